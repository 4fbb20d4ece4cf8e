internal import COpenSSL
internal import FoundationEssentials
internal import HTTPTypes

/// The opening handshake of a client (RFC 6455, section 4.1): the fields of the request, and the requirements on the
/// response. Pure.
struct WebSocketHandshake {
    /// A random nonce in base64.
    let key: String
    let subprotocols: [String]
    /// Whether permessage-deflate is offered.
    let compresses: Bool

    /// The agreement of client and server.
    struct Agreement: Equatable {
        var subprotocol: String?
        var compression: DeflateExtension?
    }

    init(subprotocols: [String], compresses: Bool = false, key: String = Self.randomKey()) {
        self.subprotocols = subprotocols
        self.compresses = compresses
        self.key = key
    }

    /// The fields of the request besides Connection and Upgrade.
    var requestFields: HTTPFields {
        var fields: HTTPFields = [.secWebSocketKey: key, .secWebSocketVersion: "13"]
        if !subprotocols.isEmpty { fields[.secWebSocketProtocol] = subprotocols.joined(separator: ", ") }
        if compresses { fields[.secWebSocketExtensions] = DeflateExtension.offer }
        return fields
    }

    /// Checks a response with 101.
    func verify(_ head: HTTPResponse) throws(Failure) -> Agreement {
        let accept = head.headerFields[values: .secWebSocketAccept]
        guard accept.count == 1, accept[0] == Self.accept(key) else { throw .wrongAccept }
        var agreement = Agreement()
        let extensions = head.headerFields[values: .secWebSocketExtensions]
        if let name = extensions.first {
            guard compresses, let agreed = DeflateExtension(extensions) else { throw .unknownExtension(name) }
            agreement.compression = agreed
        }
        let selected = head.headerFields[values: .secWebSocketProtocol]
        guard let name = selected.first else { return agreement }
        guard selected.count == 1, subprotocols.contains(name) else { throw .unknownSubprotocol(name) }
        agreement.subprotocol = name
        return agreement
    }

    enum Failure: Error, Equatable {
        case wrongAccept
        case unknownExtension(String)
        case unknownSubprotocol(String)

        /// A sentence about the failure.
        var message: String {
            switch self {
            case .wrongAccept: "The server's Sec-WebSocket-Accept does not answer the request's key."
            case .unknownExtension(let name):
                "The server uses an extension in a way that was not offered: \(name.prefix(40).debugDescription)."
            case .unknownSubprotocol(let name):
                "The server selected a subprotocol that was not offered: \(name.prefix(40).debugDescription)."
            }
        }
    }

    private static func randomKey() -> String {
        var random = SystemRandomNumberGenerator()
        return Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64EncodedString()
    }

    /// The value of Sec-WebSocket-Accept that answers a key.
    static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        _ = SHA1(text, text.count, &digest)
        return Data(digest).base64EncodedString()
    }
}

extension WebSocket.Options {
    /// A sentence about the problem with the options; nil if there is none.
    var problem: String? {
        if maximumMessageSize < 1 || maximumMessageSize > 1 << 30 {
            return "The maximum size of a WebSocket message must be from 1 byte to 1 GiB."
        }
        if pingInterval.map({ $0 <= .zero }) ?? false || pongTimeout <= .zero || closeTimeout <= .zero {
            return "The intervals of a WebSocket must be above 0."
        }
        // RFC 6455, section 4.1, requires distinct tokens.
        let names = Set(subprotocols.filter { HTTPField.Name($0) != nil })
        if names.count != subprotocols.count { return "The subprotocols of a WebSocket must be distinct tokens." }
        return nil
    }
}
