// With an assembly file in the package, Go takes functions without a body.
