package main

import _ "airlock-tool"

func main() {}
