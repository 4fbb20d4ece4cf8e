public import Foundation  // NSObject
internal import HTTPTypes
internal import LinnetMessages

// SAFETY: All stored properties are constant values.
/// The head of a response, with the members of Foundation's class, which exists on Linux in FoundationNetworking alone.
public class URLResponse: NSObject, @unchecked Sendable {
    /// The URL of the response, after redirects.
    public let url: URL?
    let head: HTTPResponse

    init(url: URL?, head: HTTPResponse) {
        self.url = url
        self.head = head
    }

    /// The media type, in lower case and without its parameters; nil if the server declared none.
    public var mimeType: String? { mediaType?.essence }

    /// The charset that the media type names.
    public var textEncodingName: String? { mediaType?.parameter("charset") }

    /// The length of the body that the server declared; -1 if it declared none.
    public var expectedContentLength: Int64 { head.headerFields[.contentLength].flatMap { Int64($0) } ?? -1 }

    /// The last component of the URL's path, or `Unknown`.
    public var suggestedFilename: String? {
        guard let name = url?.lastPathComponent, !name.isEmpty, name != "/" else { return "Unknown" }
        return name
    }

    private var mediaType: MIMEType? { head.headerFields[.contentType].flatMap { MIMEType(contentType: $0) } }
}

/// The head of a response to an HTTP request.
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// Creates a response, such as for a test; nil if the status is not one of HTTP, or a header field is invalid.
    public convenience init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        guard 100...999 ~= statusCode else { return nil }
        var fields = HTTPFields()
        for (name, value) in (headerFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        self.init(url: url, head: HTTPResponse(status: HTTPResponse.Status(code: statusCode), headerFields: fields))
    }

    /// The status code.
    public var statusCode: Int { head.status.code }

    /// The header fields. The values of fields with equal names are joined by commas.
    public var allHeaderFields: [AnyHashable: Any] {
        var fields: [String: String] = [:]
        for field in head.headerFields {
            let name = field.name.rawName
            fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return fields
    }

    /// Returns the value of a header field, whatever the case of its name.
    public func value(forHTTPHeaderField field: String) -> String? {
        HTTPField.Name(field).flatMap { head.headerFields[$0] }
    }

    /// The text for a status, in English.
    public class func localizedString(forStatusCode statusCode: Int) -> String {
        if let status = named.first(where: { $0.code == statusCode }) { return status.reasonPhrase.lowercased() }
        return switch statusCode {
        case 100..<200: "informational"
        case 200..<300: "success"
        case 300..<400: "redirected"
        case 400..<500: "client error"
        default: "server error"
        }
    }

    private static let named: [HTTPResponse.Status] = [
        .ok, .created, .accepted, .noContent, .movedPermanently, .found, .notModified, .badRequest, .unauthorized,
        .forbidden, .notFound, .methodNotAllowed, .notAcceptable, .requestTimeout, .conflict, .gone,
        .unprocessableContent, .tooManyRequests, .internalServerError, .notImplemented, .badGateway,
        .serviceUnavailable, .gatewayTimeout,
    ]
}
