module example.com/collector

go 1.24

require github.com/airlock-dev/airlock/sdk/go v0.1.0

replace github.com/airlock-dev/airlock/sdk/go => ../../sdk/go
