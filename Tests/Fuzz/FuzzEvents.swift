// Modules: Serialization
// Sources: Modules/Session/Streams/LineSplitter.swift Modules/Session/Streams/ServerSentEvent.swift
import FoundationEssentials

/// The readers' error type, in place of the session's.
struct SessionError: Error {
    enum Code { case bodyTooLarge }
    let code: Code

    init(_ code: Code, _ message: String) { self.code = code }
}

/// Parses the input as server-sent events, once whole and once in pieces. Both have the result of a parser of a few
/// lines. The first byte is the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEvents(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let body = Data(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let size = Int(data[0]) + 1
    let pieces = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
    let whole = outcome([body])
    guard outcome(pieces) == whole else { fatalError("The events depend on the size of the pieces.") }
    let expected = expectedOutcome(Array(body))
    guard whole == expected else { fatalError("\(whole) is not the expected \(expected).") }
    return 0
}

private let maximumLine = 1000
private let maximumData = 2000

/// The results of a stream when it ends or is refused. The text of an event distinguishes strings that are canonically
/// equivalent.
private struct Outcome: Equatable {
    var events: [String] = []
    var resumptionID = ""
    var retry: Duration?
    var isRefused = false

    var refused: Outcome {
        var copy = self
        copy.isRefused = true
        return copy
    }

    mutating func append(type: String, data: String, lastEventID: String) {
        events.append("\(Array(type.utf8)) \(Array(data.utf8)) \(Array(lastEventID.utf8))")
    }
}

private func outcome(_ pieces: [Data]) -> Outcome {
    var lines = LineSplitter(.any, limit: maximumLine)
    var parser = ServerSentEventParser(limit: maximumData)
    var outcome = Outcome()
    do throws(SessionError) {
        for piece in pieces {
            lines.add(piece)
            while let line = try lines.next() {
                guard let event = try parser.line(line) else { continue }
                outcome.append(type: event.type, data: event.data, lastEventID: event.lastEventID)
            }
        }
    } catch {
        outcome.isRefused = true
    }
    (outcome.resumptionID, outcome.retry) = (parser.resumptionID, parser.retry)
    return outcome
}

/// The steps of WHATWG HTML, section 9.2.6, with the two limits.
private func expectedOutcome(_ body: [UInt8]) -> Outcome {
    var outcome = Outcome()
    var (type, id, size) = ("", "", 0)
    var data: [String] = []
    // The last piece has no ending. It is no line, but its size counts.
    let pieces = lines(of: body)
    for (index, piece) in pieces.enumerated() {
        guard piece.count <= maximumLine else { return outcome.refused }
        guard index < pieces.count - 1 else { break }
        let line = index == 0 && piece.starts(with: [0xEF, 0xBB, 0xBF]) ? piece.dropFirst(3) : piece
        guard !line.isEmpty else {
            if canBeSent(id) { outcome.resumptionID = id }
            if !data.isEmpty {
                let type = type.isEmpty ? "message" : type
                outcome.append(type: type, data: data.joined(separator: "\n"), lastEventID: id)
            }
            (type, data, size) = ("", [], 0)
            continue
        }
        let sides = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let value = sides.count == 1 ? [] : sides[1].first == UInt8(ascii: " ") ? sides[1].dropFirst() : sides[1]
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: sides[0], as: UTF8.self) {
        case "event": type = text
        case "data":
            size += value.count + 1
            guard size <= maximumData else { return outcome.refused }
            data.append(text)
        case "id" where !value.contains(0): id = text
        case "retry" where value.allSatisfy { (0x30...0x39).contains($0) }:
            if let number = Int64(text) { outcome.retry = .milliseconds(number) }
        default: break
        }
    }
    return outcome
}

/// The pieces between CR, LF and CRLF.
private func lines(of body: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (index, byte) in body.enumerated() where byte == 0x0A || byte == 0x0D {
        let isSecondHalf = byte == 0x0A && index > 0 && body[index - 1] == 0x0D
        if !isSecondHalf { lines.append(body[start..<index]) }
        start = index + 1
    }
    return lines + [body[start...]]
}

/// Whether a field can have the value (RFC 9110, section 5.5).
private func canBeSent(_ id: String) -> Bool {
    let isBlank = { (byte: UInt8?) in byte == 0x20 || byte == 0x09 }
    return !isBlank(id.utf8.first) && !isBlank(id.utf8.last)
        && id.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
}
