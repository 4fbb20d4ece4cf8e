import FoundationEssentials
import HTTPTypes

extension Request {
    mutating func appendQuery(_ parameters: Parameters?, encoder: QueryEncoder) throws(SerializationError) {
        guard let parameters, !parameters.isEmpty else { return }
        url = try url.appending(encodedQuery: encoder.encode(parameters))
    }

    mutating func setBody(_ data: Data, contentType: String) throws(SerializationError) {
        guard body == nil else {
            throw SerializationError(
                code: .invalidParameters,
                message: "the request has a body already, which the parameters would replace"
            )
        }
        body = .data(data)
        if !headerFields.contains(.contentType) { headerFields[.contentType] = contentType }
    }
}

extension HTTPFields {
    mutating func setBasicAuthorization(username: String, password: String) throws(SerializationError) {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw SerializationError(code: .invalidHeader, message: "a user name for Basic authorization has no colon")
        }
        self[.authorization] = Self.basicAuthorization(username: username, password: password)
    }
}
