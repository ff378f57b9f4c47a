//go:build !unix

package git

const nonBlocking = 0

func isNotDir(error) bool { return false }
