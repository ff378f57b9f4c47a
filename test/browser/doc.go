// Package browser drives the page in a real Chromium, against the whole
// product with a strict peer in the place of a provider. Every sentence of the
// specification about the page that this version keeps is a test here.
//
// Waiting is for conditions, never for time. A test fails when the page writes
// an error to its console or breaks its content security policy, unless it said
// that it would.
package browser
