internal import HTTPTypes
internal import LinnetMessages
internal import NIOCore

/// Asks an HTTP proxy for a tunnel with CONNECT (RFC 9110, 9.3.6). Pure.
struct TunnelHandshake: ProxyHandshake {
    /// The bytes of a refusal's body that are kept.
    private static let mostPageBytes = 1024

    private let target: String
    private let answer: ProxyAnswer
    /// Whether the values of Proxy-Authentication-Info prove that the proxy knows the password.
    private let isProven: @Sendable ([String]) -> Bool
    private var parser: HTTP1ResponseParser
    /// The status of a refusal, and the first bytes of its body.
    private var status: HTTPResponse.Status?
    private var page = ByteBuffer()

    /// The target of the request; the port is always written (RFC 9112, 3.2.3).
    static func target(_ origin: Origin) -> String { origin.endpoint }

    init(
        to origin: Origin, answer: ProxyAnswer, limits: TransportConfiguration.ResponseLimits,
        isProven: @escaping @Sendable ([String]) -> Bool = { _ in true }
    ) {
        target = Self.target(origin)
        self.answer = answer
        self.isProven = isProven
        parser = HTTP1ResponseParser(limits: limits)
    }

    mutating func start() -> ByteBuffer {
        parser.begin(.connect)
        let field = answer.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        let head = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(field)\r\n"
        return ByteBuffer(bytes: head.isoLatin1Octets)
    }

    mutating func received(_ bytes: ByteBuffer) throws(ProxyFailure) -> ProxyHandshakeStep {
        parser.append(bytes)
        while let event = try nextEvent() {
            switch event {
            case .head(let head) where head.statusCode == 101:
                throw .invalid("it switched to another protocol")
            case .head(let head) where head.isInformational:
                continue
            case .head(let head) where head.statusCode < 300:
                guard isProven(head.response.headerFields.isoLatin1Values(of: .proxyAuthenticationInfo)) else {
                    throw .wrongProof
                }
                return .open(parser.takeSurplus() ?? ByteBuffer())
            case .head(let head) where head.statusCode == 407:
                throw .authentication(
                    head.response.headerFields.isoLatin1Values(of: .proxyAuthenticate), after: answer)
            case .head(let head):
                status = head.response.status
            case .body(var bytes):
                let most = Self.mostPageBytes - page.readableBytes
                if let part = bytes.readSlice(length: min(most, bytes.readableBytes)) {
                    page.writeImmutableBuffer(part)
                }
                if page.readableBytes == Self.mostPageBytes { throw failureAtEnd }
            case .end:
                throw failureAtEnd
            }
        }
        return .needsBytes
    }

    var failureAtEnd: ProxyFailure {
        guard let status else { return .closed }
        let text = String(buffer: page)
        // A proxy that returns the request must not bring the password into a log.
        let secret = answer.authorization.flatMap { $0.split(separator: " ").last }
        let repeats = secret.map { text.contains($0) || status.reasonPhrase.contains($0) } ?? false
        return .refused(repeats ? Proxy.Refusal(.init(code: status.code), page: "") : Proxy.Refusal(status, page: text))
    }

    private mutating func nextEvent() throws(ProxyFailure) -> HTTP1ResponseParser.Event? {
        do {
            return try parser.next()
        } catch {
            switch error {
            case .headTooLarge, .tooManyFields, .tooManyInformationalResponses:
                throw .invalid("its head exceeds the limits on responses")
            case .malformed(let what): throw .invalid(what)
            }
        }
    }
}
