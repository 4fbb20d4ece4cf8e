import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import Testing

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
