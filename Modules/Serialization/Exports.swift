// Requests, responses and serializers are made of its methods, statuses and fields: whoever imports LinnetSerialization
// needs no further import to write one.
@_exported public import HTTPTypes
