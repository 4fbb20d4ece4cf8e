// Modules: Serialization Multipart
import FoundationEssentials
import LinnetMultipart
import LinnetSerialization

/// Parses the input as a multipart body with the boundary `B`, once whole and once in pieces, with equal results. The
/// first byte determines the size of the pieces, and whether nested bodies are parsed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMultipart(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let isNested = data[0] & 1 == 1
    let body = Data(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let whole = read([body], isNested)
    let size = Int(data[0] >> 1) + 1
    let pieces = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    guard read(pieces, isNested) == whole else { fatalError("The parts depend on the size of the pieces.") }
    return 0
}

/// Returns the events and the code of the error.
private func read(_ pieces: [Data], _ isNested: Bool) -> Outcome {
    var limits = MultipartParser.Limits()
    limits.maximumPartCount = 50
    limits.maximumHeaderBytes = 300
    limits.maximumHeaderFieldCount = 10
    var outcome = Outcome()
    do {
        var parser = try MultipartParser(boundary: "B", limits: limits, readsNestedParts: isNested)
        for piece in pieces {
            parser.push(piece)
            while let event = try parser.next() { outcome.add(event) }
        }
        try parser.finish()
    } catch {
        outcome.code = error.code
    }
    return outcome
}

private struct Outcome: Equatable {
    var events: [MultipartParser.Event] = []
    var code: MultipartError.Code?

    mutating func add(_ event: MultipartParser.Event) {
        if case .data(let data) = event, case .data(let before)? = events.last {
            events[events.count - 1] = .data(before + data)
            return
        }
        if case .partBegan(let head) = event { _ = (head.contentType, head.byteRange) }
        events.append(event)
    }
}
