// Package e2e drives the whole product over HTTP, with a strict peer in the
// place of a provider, on both databases.
package e2e
