// Modules: Serialization
// Sources: Modules/Session/Streams/LineSplitter.swift Modules/Session/Streams/ServerSentEvent.swift
import FoundationEssentials

/// The readers' error type, in place of the session's.
struct SessionError: Error {
    enum Code { case bodyTooLarge }
    let code: Code

    init(_ code: Code, _ message: String) { self.code = code }
}

/// Parses the input as server-sent events, once whole and once in pieces, with equal results. The first byte is the size of
/// the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEvents(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let body = Data(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let size = Int(data[0]) + 1
    let pieces = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    guard events(pieces) == events([body]) else { fatalError("The events depend on the size of the pieces.") }
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
                    fatalError("An event exceeds the limit and is not the last.")
                }
                events.append(event)
            }
        }
    } catch {
        events.append(ServerSentEvent(type: "\(error.code)", data: ""))
    }
    return events
}
