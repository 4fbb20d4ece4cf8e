import FoundationEssentials
import LinnetTesting

/// The server's side of a WebSocket that sends one message and closes, with the fault of a cell from the response's
/// body on.
struct WebSocketScript {
    let cell: Cell
    let socket: MockWebSocket

    func run() async throws {
        let length = Exchange.content.count
        let message = Data([0x82, 126, UInt8(length >> 8), UInt8(length & 0xFF)]) + Exchange.content
        try await socket.write(message.prefix(length / 4))
        if try await ends(at: .responseBody) { return }
        try await socket.write(Data(message.dropFirst(length / 4)))
        if try await ends(at: .responseEnd) { return }
        try await socket.close()
    }

    /// Performs the fault if it occurs here. Returns whether the connection has ended.
    private func ends(at trigger: Cell.Trigger) async throws -> Bool {
        guard cell.trigger == trigger else { return false }
        try await socket.perform(cell.effect.ofServer)
        return cell.effect != .slow
    }
}
