internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Encodes a response as the frames of one stream.
final class HTTP2ResponseSink: ResponseSink {
    private typealias Frame = HTTP2Frame.FramePayload

    let hasBody: Bool
    private let response: MockResponse
    private let stream: HTTP2Stream
    private let isRaw: Bool
    private var frames: [Frame] = []
    /// The bytes of the body that are not in a frame yet, or of a raw response.
    private var bytes = ByteBuffer()

    init(_ response: MockResponse, to stream: HTTP2Stream, method: HTTPRequest.Method) {
        self.response = response
        self.stream = stream
        isRaw = response.body.isRaw
        hasBody = method != .head && response.status != .noContent && response.status != .notModified && !isRaw
    }

    func writeInformational(_ head: HTTPResponse) {
        frames.append(.headers(.init(headers: HPACKHeaders(head))))
    }

    func writeHead() {
        var head = HTTPResponse(status: response.status, headerFields: response.headerFields)
        let isBodiless = response.status == .noContent || response.status == .notModified
        if let length = response.body.length, !isBodiless, head.headerFields[.contentLength] == nil {
            head.headerFields[.contentLength] = "\(length)"
        }
        frames.append(.headers(.init(headers: HPACKHeaders(head))))
    }

    func beginPiece(of count: Int) {}

    func write(_ bytes: Data) {
        self.bytes.writeBytes(bytes)
    }

    func endPiece() {}

    func writeEnd() {
        guard !isRaw else { return }
        if hasBody, let trailers = response.trailers {
            takeBytes()
            frames.append(.headers(.init(headers: HPACKHeaders(trailers: trailers), endStream: true)))
        } else if bytes.readableBytes == 0, case .headers(var head)? = frames.last {
            head.endStream = true
            frames[frames.count - 1] = .headers(head)
        } else {
            takeBytes(endStream: true)
        }
    }

    func flush(endsExchange: Bool) async throws {
        if isRaw && frames.isEmpty {
            let raw = bytes
            bytes = ByteBuffer()
            if raw.readableBytes > 0 { try await stream.writeRaw(raw) }
            return
        }
        takeBytes()
        let frames = frames
        self.frames = []
        guard !frames.isEmpty else { return }
        try await stream.write(frames, endsExchange: endsExchange)
    }

    /// Creates a DATA frame from the buffered bytes. The codec splits it according to the client's settings and
    /// windows.
    private func takeBytes(endStream: Bool = false) {
        guard bytes.readableBytes > 0 || endStream else { return }
        frames.append(.data(.init(data: .byteBuffer(bytes), endStream: endStream)))
        bytes = ByteBuffer()
    }
}

extension HPACKHeaders {
    /// Connection-specific fields (RFC 9113, 8.2.2), which are omitted.
    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ]

    init(_ head: HTTPResponse) {
        self.init([(":status", "\(head.status.code)")])
        add(head.headerFields)
    }

    fileprivate init(trailers: HTTPFields) {
        self.init()
        add(trailers)
    }

    private mutating func add(_ fields: HTTPFields) {
        for field in fields where !Self.ofConnection.contains(field.name.canonicalName) {
            add(name: field.name.canonicalName, value: field.value)
        }
    }
}
