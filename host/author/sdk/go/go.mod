module airlock-tool

go 1.24
