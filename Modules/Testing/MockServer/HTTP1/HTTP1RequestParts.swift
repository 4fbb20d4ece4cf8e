internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Turns what NIO's HTTP/1.1 decoder yields into the parts of requests.
final class HTTP1RequestParts: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part: RequestPart =
            switch unwrapInboundIn(data) {
            case .head(let head): .head(RequestHead(head))
            case .body(let bytes): .body(bytes)
            case .end(let trailers): .end(trailers.map { HTTPFields($0) })
            }
        context.fireChannelRead(wrapInboundOut(part))
    }
}

extension RequestHead {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            method: HTTPRequest.Method(head.method.rawValue) ?? .get, target: head.uri,
            authority: head.headers.first(name: "host"), headerFields: HTTPFields(head.headers),
            httpVersion: "HTTP/\(head.version.major).\(head.version.minor)", isKeepAlive: head.isKeepAlive)
    }
}

extension HTTPFields {
    /// NIO's headers; the decoder has let only valid names through.
    fileprivate init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
