module github.com/airlock-dev/airlock/sdk/go

go 1.24
