# What a person runs. Everything that a target needs beyond Go it installs or
# starts by itself, or says what is missing.

.PHONY: run build test bench storm lint web fuzz clean

run: build
	./bin/weir demo

build:
	go build -o bin/weir ./cmd/weir

test:
	./test/run

storm:
	WEIR_STORM=full ./test/run storm

fuzz:
	FUZZ=$${FUZZ:-60} ./test/run fuzz

bench:
	go run ./bench

lint:
	./test/run lint

web:
	./test/run web

clean:
	rm -rf bin
