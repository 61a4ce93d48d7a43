module example.com/batch-rename

go 1.24

require airlock-tool v0.1.0

replace airlock-tool => ../../../sdk/go
