import HTTPTypes
import Testing

@testable import LinnetWebSocket

@Suite("Opening handshake of a WebSocket (RFC 6455, 4)")
struct WebSocketHandshakeTests {
    private let handshake = WebSocketHandshake(subprotocols: ["chat.v2", "chat"], key: "dGhlIHNhbXBsZSBub25jZQ==")

    private func response(_ fields: HTTPFields) -> HTTPResponse {
        HTTPResponse(status: .switchingProtocols, headerFields: fields)
    }

    /// RFC 6455, section 1.3.
    private let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    @Test func theAcceptValueMatchesTheRFC() throws {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == accept)
        #expect(try handshake.verify(response([.secWebSocketAccept: accept])) == WebSocketHandshake.Agreement())
    }

    @Test func theRequestOffersTheSubprotocolsInOrder() {
        #expect(handshake.requestFields[.secWebSocketProtocol] == "chat.v2, chat")
        #expect(handshake.requestFields[.secWebSocketVersion] == "13")
    }

    @Test func eachKeyIsNew() {
        let keys = Set((0..<100).map { _ in WebSocketHandshake(subprotocols: []).key })
        #expect(keys.count == 100)
        #expect(keys.allSatisfy { $0.utf8.count == 24 })
    }

    @Test(arguments: [nil, "", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp=", "S3PPLMBITXAQ9KYGZZHZRBK+XOO="] as [String?])
    func anotherAcceptValueIsRefused(value: String?) {
        var fields = HTTPFields()
        fields[.secWebSocketAccept] = value
        #expect(throws: WebSocketHandshake.Failure.wrongAccept) { try handshake.verify(response(fields)) }
    }

    @Test func twoAcceptValuesAreRefused() {
        var fields: HTTPFields = [.secWebSocketAccept: accept]
        fields.append(HTTPField(name: .secWebSocketAccept, value: accept))
        #expect(throws: WebSocketHandshake.Failure.wrongAccept) { try handshake.verify(response(fields)) }
    }

    @Test func aSubprotocolMustHaveBeenOffered() throws {
        let offered = response([.secWebSocketAccept: accept, .secWebSocketProtocol: "chat"])
        #expect(try handshake.verify(offered).subprotocol == "chat")
        for name in ["chat.v3", "CHAT", "chat.v2, chat", ""] {
            #expect(throws: WebSocketHandshake.Failure.unknownSubprotocol(name)) {
                try handshake.verify(response([.secWebSocketAccept: accept, .secWebSocketProtocol: name]))
            }
        }
    }

    @Test func anExtensionThatWasNotOfferedIsRefused() {
        #expect(throws: WebSocketHandshake.Failure.unknownExtension("x-compress")) {
            try handshake.verify(response([.secWebSocketAccept: accept, .secWebSocketExtensions: "x-compress"]))
        }
    }

    @Test(arguments: [0, -1, (1 << 30) + 1, 1 << 33])
    func sizesThatCannotBeUsedAreAProblem(size: Int) {
        var options = WebSocket.Options()
        options.maximumMessageSize = size
        #expect(options.problem != nil)
    }

    @Test func intervalsAreAboveZero() {
        var options = WebSocket.Options()
        options.pingInterval = nil
        #expect(options.problem == nil)
        options.pingInterval = .zero
        #expect(options.problem != nil)
    }

    @Test(arguments: [["a", "a"], [""], ["a b"], ["a,b"], ["ä"]])
    func subprotocolsAreDistinctTokens(names: [String]) {
        var options = WebSocket.Options()
        options.subprotocols = names
        #expect(options.problem != nil)
        options.subprotocols = ["a", "A", "b.c"]
        #expect(options.problem == nil)
    }
}
