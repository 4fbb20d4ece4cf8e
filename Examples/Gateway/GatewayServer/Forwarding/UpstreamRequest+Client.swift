import HTTPTypes
import Hummingbird
import NIOCore

extension UpstreamRequest {
    /// The paths that are forwarded, without the prefix, and their label.
    static let prefix = "/api"
    static let template = "/api/{path}"

    /// The request for the upstream in the place of a client's.
    init(_ request: Request, from client: SocketAddress?, settings: GatewaySettings) throws(Problem) {
        let deadline = try Deadline(request.headers, limit: settings.timeout)
        guard request.method != .trace, request.method != .connect else { throw .methodNotAllowed }
        method = request.method
        url = "\(settings.upstream)\(try Self.path(request.head.path ?? ""))"
        template = Self.template
        timeout = try deadline.remaining()
        headerFields = request.headers.forwarded(from: client, timeout: timeout)
        body = try Self.body(of: request, limit: settings.maximumBodySize)
    }

    /// The path and the query after the prefix. Segments of dots are refused, because they would leave the upstream's
    /// own path.
    private static func path(_ target: String) throws(Problem) -> Substring {
        let path = target.dropFirst(prefix.count)
        guard !path.utf8.contains(UInt8(ascii: "#")) else { throw .invalidPath }
        if path.utf8.contains(UInt8(ascii: ".")) || path.utf8.contains(UInt8(ascii: "%")) {
            for segment in path.prefix(while: { $0 != "?" }).split(whereSeparator: { $0 == "/" || $0 == "\\" }) {
                let plain = segment.replacing("%2e", with: ".").replacing("%2E", with: ".")
                guard plain != ".", plain != ".." else { throw .invalidPath }
            }
        }
        return path
    }

    private static func body(of request: Request, limit: Int) throws(Problem) -> ClientBody? {
        if request.headers.contains(.transferEncoding) { return ClientBody(request.body, length: nil, limit: limit) }
        guard let text = request.headers[.contentLength] else { return nil }
        guard let length = Int(text), length >= 0 else { throw .invalidRequest }
        guard length <= limit else { throw .contentTooLarge }
        return ClientBody(request.body, length: length, limit: limit)
    }
}
