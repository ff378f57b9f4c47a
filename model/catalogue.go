package model

// Catalogue holds the profiles of all known models. It never changes.
type Catalogue struct{}

// LoadCatalogue returns the embedded catalogue under an overlay.
func LoadCatalogue(overlay []Profile) (*Catalogue, error) { panic("not yet") }

// Profile returns the profile with this id.
func (c *Catalogue) Profile(id string) (Profile, error) { panic("not yet") }

// All returns all profiles, ordered by id.
func (c *Catalogue) All() []Profile { panic("not yet") }
