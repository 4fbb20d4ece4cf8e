import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

/// Random texts with many characters that are special in some format.
enum RandomText {
    static func make(_ random: inout some RandomNumberGenerator) -> String {
        let special = Array("%&=+ #?/[];,\"\\\r\n\u{0}'é漢😀".unicodeScalars)
        var text = "x"
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            if Bool.random(using: &random), let scalar = special.randomElement(using: &random) {
                text.unicodeScalars.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

func makeResponse(_ body: String, status: Int = 200, type: String? = "application/json") -> SerializedResponse {
    makeResponse(Data(body.utf8), status: status, type: type)
}

func makeResponse(_ body: Data, status: Int = 200, type: String? = "application/json") -> SerializedResponse {
    var head = HTTPResponse(status: HTTPResponse.Status(code: status))
    head.headerFields[.contentType] = type
    return SerializedResponse(url: URL(string: "https://example.org/"), head: head, body: body)
}

func makeRequest(
    _ url: String = "https://example.org/p",
    method: HTTPRequest.Method = .get,
    headerFields: HTTPFields = [:],
    body: HTTPRequestBody? = nil
) throws -> SessionRequest {
    SessionRequest(url: try #require(URL(string: url)), method: method, headerFields: headerFields, body: body)
}

func bodyText(_ request: SessionRequest) -> String? { request.body?.data.map { String(decoding: $0, as: UTF8.self) } }
