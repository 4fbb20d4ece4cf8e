public import FoundationEssentials

/// Gives the body as it is.
public struct DataResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with any content type.
    public var validation: ResponseValidation

    /// Creates a serializer.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// Validates the response and returns its body.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Data {
        try validation.validate(response)
        return response.body
    }
}
