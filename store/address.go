package store

import (
	"os"
	"strings"

	"weir"
)

// address is where a store is: a PostgreSQL URL, or else a directory.
type address struct{ postgres, dir string }

// parseAddress reads where a store is. A word with a colon that is no address
// known here is refused: taken for a path, a slip of the pen would open an
// empty database somewhere. What is refused is not repeated beyond its scheme,
// because it may hold a password.
func parseAddress(url string) (address, error) {
	scheme, rest, ok := cutScheme(url)
	switch {
	case !ok && url != "":
		return address{dir: url}, nil
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		return address{postgres: scheme + ":" + rest}, nil
	case scheme == "sqlite" && rest != "" && (!strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///")):
		return address{dir: strings.TrimPrefix(rest, "//")}, nil
	}
	const forms = "give postgres://user:password@host:5432/database, sqlite:DIRECTORY, or the path of a directory (with ./ in front when its name has a colon)."
	switch scheme {
	case "":
		return address{}, weir.Fault(weir.Invalid, "store_url_invalid", "No place for the store is named: "+forms)
	case "sqlite", "postgres", "postgresql":
		return address{}, weir.Fault(weir.Invalid, "store_url_invalid", "This address of a store, which begins with %s:, is not complete: "+forms, scheme)
	}
	return address{}, weir.Fault(weir.Invalid, "store_url_invalid", "Weir knows no store whose address begins with “%.20s:”: "+forms, scheme)
}

// cutScheme cuts what stands before the first colon, in lower case, if it is
// spelled as the scheme of a URL. One letter is a Windows drive.
func cutScheme(url string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(url, ":")
	if !ok || len(scheme) < 2 {
		return "", "", false
	}
	for i := range len(scheme) {
		c := scheme[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		other := '0' <= scheme[i] && scheme[i] <= '9' || strings.IndexByte("+.-", scheme[i]) >= 0
		if !letter && (!other || i == 0) {
			return "", "", false
		}
	}
	return strings.ToLower(scheme), rest, true
}

// notAFile refuses a path that is a file where a directory has to be.
func notAFile(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.IsDir() {
		return nil
	}
	return weir.Fault(weir.Unavailable, "data_dir_unusable",
		"%s is a file, but the SQLite store is a directory in which Weir keeps its files; name a directory.", dir)
}
