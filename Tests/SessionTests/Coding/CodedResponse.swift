import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetTesting
import Testing

@testable import LinnetSession

extension MockResponse {
    /// A response with content in codings, which Content-Encoding names.
    static func coded(
        _ content: Data, _ codings: [ContentCoding] = [.gzip], _ fields: HTTPFields = [:],
        status: HTTPResponse.Status = .ok
    ) throws -> MockResponse {
        let body = try codings.reduce(content) { content, coding in try coding.encoded(content) }
        return claiming(codings.map(\.name).joined(separator: ", "), body, fields, status: status)
    }

    /// A response with this Content-Encoding, whatever the bytes are.
    static func claiming(
        _ names: String, _ body: Data, _ fields: HTTPFields = [:], status: HTTPResponse.Status = .ok
    ) -> MockResponse {
        var response = MockResponse(status: status, headerFields: fields, body: .bytes(body))
        response.headerFields[.contentEncoding] = names
        return response
    }
}

/// A text that becomes much smaller in a coding.
let longText = String(repeating: "A linnet is a small finch. ", count: 4000)

/// The failure of an operation; nil if it succeeds.
func sessionError<Value>(_ operation: () async throws -> Value) async -> SessionError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? SessionError
    }
}

extension SessionError {
    /// The failure of the coding that underlies the error.
    var compressionCode: CompressionError.Code? { (underlying as? CompressionError)?.code }
}
