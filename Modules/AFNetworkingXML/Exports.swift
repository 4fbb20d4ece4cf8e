// The types of the documents that a serializer returns.
@_exported public import LinnetSerializationXML
