package api_test

import (
	"net/http"
	"testing"
)

func TestAWorkspaceIsAnAbsolutePath(t *testing.T) {
	d := serve(t, nil)
	for _, folder := range []string{".", "sub/folder", "~/x"} {
		for method, path := range map[string]string{"POST": "/v1/conversations", "PATCH": "/v1/conversations/c"} {
			status, p := d.do(method, path, `{"workspace":"`+folder+`"}`)
			if status != http.StatusBadRequest || p["code"] != "workspace_invalid" {
				t.Errorf("%s %q: %d %v", method, folder, status, p)
			}
		}
	}
}
