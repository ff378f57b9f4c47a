package modelview_test

func signedRows() []int { return []int{2, 11, 12, 14, 15, 20, 21, 22, 25} }
