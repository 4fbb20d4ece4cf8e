// A program imports this module in the place of LinnetAFNetworking, or beside it.
@_exported public import LinnetAFNetworking
