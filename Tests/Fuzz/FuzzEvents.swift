// Modules: Serialization
// Sources: Modules/Session/Streams/LineSplitter.swift Modules/Session/Streams/ServerSentEvent.swift
import FoundationEssentials

/// What the readers throw, in place of the session's own error.
struct SessionError: Error {
    enum Code { case bodyTooLarge }
    let code: Code

    init(_ code: Code, _ message: String) { self.code = code }
}

/// Reads what the fuzzer makes as server-sent events, once whole and once in pieces, which has to give the same; the first
/// byte tells how large the pieces are.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEvents(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let body = Data(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let size = Int(data[0]) + 1
    let pieces = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    guard events(pieces) == events([body]) else { fatalError("The events depend on how the bytes are cut.") }
    return 0
}

private func events(_ pieces: [Data]) -> [ServerSentEvent] {
    var lines = LineSplitter(.any, limit: 1000)
    var parser = ServerSentEventParser(limit: 2000)
    var events: [ServerSentEvent] = []
    do throws(SessionError) {
        for piece in pieces {
            lines.add(piece)
            while let line = try lines.next() {
                guard let event = try parser.line(line) else { continue }
                guard event.data.utf8.count <= 6000, event.lastEventID == parser.resumptionID else {
                    fatalError("An event is beyond the limit, or not the last.")
                }
                events.append(event)
            }
        }
    } catch {
        events.append(ServerSentEvent(type: "\(error.code)", data: ""))
    }
    return events
}
