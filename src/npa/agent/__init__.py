"""What programs call: a registry of tools, an HTTP server and an MCP server, all over `npa.api`."""
