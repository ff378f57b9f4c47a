package store_test

import (
	"testing"

	"weir/store"
	"weir/store/storetest"
	"weir/test/stores"
)

func TestSQLiteKeepsThePromises(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return stores.SQLite(t) })
}

func TestPostgreSQLKeepsThePromises(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return stores.Postgres(t) })
}
