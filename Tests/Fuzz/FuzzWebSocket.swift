// Testable: WebSocket
// Embedded: NIOEmbedded
import NIOCore
import NIOEmbedded
import NIOWebSocket

@testable import LinnetWebSocket

/// Reads the input as the frames of a server, once whole and once in pieces, with equal results; and compresses it as a
/// message, which becomes the same again. The first byte is the size of the pieces, the second one determines the
/// compression.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 2 else { return 0 }
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: data + 2, count: count - 2))
    let size = Int(data[0]) + 1
    let pieces = stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
        bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
    }
    let compression = data[1] & 1 == 0 ? nil : compression(data[1])
    guard received([bytes], compression) == received(pieces, compression) else {
        fatalError("The messages depend on the size of the pieces.")
    }
    guard sent([bytes], compression) == sent(pieces, compression) else {
        fatalError("The answers depend on the size of the pieces.")
    }
    if let compression { compress(bytes, compression) }
    return 0
}

private let limit = 1000

private func compression(_ choice: UInt8) -> DeflateExtension {
    var agreed = DeflateExtension()
    agreed.serverTakesNoContextOver = choice & 2 != 0
    agreed.clientTakesNoContextOver = choice & 4 != 0
    agreed.serverWindowBits = 8 + Int32(choice >> 5)
    agreed.clientWindowBits = 9 + Int32(choice >> 5) % 7
    return agreed
}

/// Reads the actions of the bytes of a server.
private struct Reader {
    var machine: WebSocketStateMachine
    var actions: [String] = []

    init(_ compression: DeflateExtension?) {
        machine = WebSocketStateMachine(
            maximumMessageSize: limit, inflater: compression.flatMap { MessageInflater($0) })
    }

    mutating func read(_ bytes: ByteBuffer) {
        machine.append(bytes)
        while let action = machine.next() {
            verify(action)
            actions.append("\(action)")
        }
    }

    private func verify(_ action: WebSocketStateMachine.Action) {
        switch action {
        case .deliver(.text(let text)): require(text.utf8.count <= limit, "A text exceeds the limit.")
        case .deliver(.binary(let bytes)): require(bytes.count <= limit, "A message exceeds the limit.")
        case .pong(let payload): require(payload.readableBytes <= 125, "A Ping frame has a long payload.")
        case .closed(let closure, let reply):
            require(closure.code.isSendable || closure.code == .noStatusReceived, "An invalid close code.")
            require(closure.reason.utf8.count <= 123, "A long reason.")
            require((reply?.readableBytes ?? 0) <= 125, "A long Close frame.")
        case .fail: require(machine.phase == .closed, "A failed connection is not closed.")
        case .ponged: break
        }
    }
}

private func require(_ condition: Bool, _ message: String) {
    guard condition else { fatalError(message) }
}

/// The results of the frames.
private func received(_ pieces: [ByteBuffer], _ compression: DeflateExtension?) -> [String] {
    var reader = Reader(compression)
    for piece in pieces { reader.read(piece) }
    return reader.actions
}

/// The client's answers, and the end of the connection.
private func sent(_ pieces: [ByteBuffer], _ compression: DeflateExtension?) -> [String] {
    var options = WebSocket.Options()
    options.maximumMessageSize = limit
    let closure = Outcome<WebSocket.Closure>()
    let handler = WebSocketHandler(options, compression, closure: closure)
    let channel = EmbeddedChannel()
    do {
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for piece in pieces where channel.isActive { try channel.writeInbound(piece) }
    } catch {
        fatalError("The channel failed: \(error)")
    }
    var frames: [String] = []
    while let frame = try? channel.readOutbound(as: WebSocketFrame.self) {
        require(frame.maskKey != nil, "A frame is not masked.")
        frames.append("\(frame.opcode) \(Array(frame.data.readableBytesView))")
    }
    if let result = closure.result { frames.append("\(result)") }
    _ = try? channel.finish(acceptAlreadyClosed: true)
    handler.queue.settle()
    require(closure.result != nil, "The end of the connection is not told.")
    return frames
}

/// Compresses a message twice, the second time with the context of the first.
private func compress(_ message: ByteBuffer, _ agreed: DeflateExtension) {
    var theirs = agreed
    theirs.serverTakesNoContextOver = agreed.clientTakesNoContextOver
    theirs.serverWindowBits = agreed.clientWindowBits
    guard let deflater = MessageDeflater(agreed), let inflater = MessageInflater(theirs) else {
        fatalError("zlib does not start.")
    }
    for _ in 0..<2 {
        let inflated = try? inflater.inflate(deflater.deflate(message), upTo: message.readableBytes)
        require(inflated == message, "A compressed message becomes something else.")
    }
}
