import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartLimitTests {
    private func code(
        _ body: Data, nested: Bool = false, _ change: (inout MultipartParser.Limits) -> Void
    ) -> MultipartError.Code? {
        var limits = MultipartParser.Limits()
        change(&limits)
        var codes: Set<MultipartError.Code?> = []
        for pieces in [[body], body.map { Data([$0]) }] {
            do {
                _ = try parse(pieces, limits: limits, nested: nested)
                codes.insert(nil)
            } catch {
                codes.insert(error.code)
            }
        }
        #expect(codes.count == 1, "\(codes)")
        return codes.first ?? nil
    }

    @Test func partsAreCounted() {
        let body = lines("--B||a|--B||b|--B||c|--B--")
        #expect(code(body) { $0.maximumPartCount = 3 } == nil)
        #expect(code(body) { $0.maximumPartCount = 2 } == .tooManyParts)
        #expect(code(body) { $0.maximumPartCount = 0 } == .tooManyParts)
    }

    @Test func headerBytesAreCountedForEachPart() {
        let body = lines("--B|A: b||a|--B|A: b||c|--B--")
        #expect(code(body) { $0.maximumHeaderBytes = 8 } == nil)
        #expect(code(body) { $0.maximumHeaderBytes = 7 } == .headerTooLarge)
        #expect(code(lines("--B|A: bcdefghi\rj")) { $0.maximumHeaderBytes = 8 } == .headerTooLarge)
        let endless = Data("--B\r\nA: ".utf8) + Data(repeating: 0x61, count: 20_000)
        #expect(code(endless) { _ in } == .headerTooLarge)
    }

    @Test func headerFieldsAreCounted() {
        let body = lines("--B|A: b|A: b|C: d| e||a|--B--")
        #expect(code(body) { $0.maximumHeaderFieldCount = 3 } == nil)
        #expect(code(body) { $0.maximumHeaderFieldCount = 2 } == .tooManyHeaderFields)
    }

    @Test func fieldLimitIsClamped() {
        let body = Data("--B\r\n\(String(repeating: "A: b\r\n", count: 70_000))\r\n\r\n--B--".utf8)
        let error = #expect(throws: MultipartError.self) {
            var limits = MultipartParser.Limits()
            limits.maximumHeaderBytes = .max
            limits.maximumHeaderFieldCount = .max
            _ = try parse([body], limits: limits)
        }
        #expect(error?.code == .tooManyHeaderFields)
    }

    @Test func allBytesAreCounted() {
        let body = lines("--B||a|--B--")
        #expect(code(body) { $0.maximumTotalBytes = Int64(body.count) } == nil)
        #expect(code(body) { $0.maximumTotalBytes = Int64(body.count) - 1 } == .bodyTooLarge)
    }

    private func nested(_ depth: Int, of count: Int) -> Data {
        let boundary = depth == 0 ? "B" : "I\(depth)"
        if depth == count { return Data("x".utf8) }
        return Data("--\(boundary)\r\nContent-Type: ".utf8)
            + Data((depth + 1 < count ? "multipart/mixed; boundary=I\(depth + 1)" : "text/plain").utf8)
            + Data("\r\n\r\n".utf8) + nested(depth + 1, of: count) + Data("\r\n--\(boundary)--\r\n".utf8)
    }

    @Test func nestingIsLimitedIfNestedBodiesAreParsed() {
        let body = nested(0, of: 4)
        #expect(code(body, nested: true) { _ in } == nil)
        #expect(code(body, nested: true) { $0.maximumNesting = 3 } == .nestedTooDeep)
        #expect(code(body) { $0.maximumNesting = 1 } == nil)
        #expect(code(nested(0, of: 5), nested: true) { _ in } == .nestedTooDeep)
    }

    @Test func nestedPartsHaveTheirDepth() throws {
        let events = try parse([nested(0, of: 3)], nested: true)
        var depths: [Int] = []
        for case .partBegan(let head) in events { depths.append(head.depth) }
        #expect(depths == [0, 1, 2])
        #expect(events.filter { $0 == .partEnded }.count == 3)
        #expect(events.contains(.data(Data("x".utf8))))
    }

    @Test func nestedBodiesAreParsedInAnyPieces() throws {
        let body = lines(
            "--B|Content-Type: multipart/mixed; boundary=BB||pre|--BB||1|--B|no|--BB|A: b||2|--BB--|post|--B||3|--B--"
                .replacing("|--B|no", with: "|--Bno"))
        let whole = try parse([body], nested: true)
        #expect(whole.filter { $0 == .partEnded }.count == 4)
        for offset in 0...body.count {
            #expect(try parse([body.prefix(offset), body.dropFirst(offset)], nested: true) == whole)
        }
        #expect(try parse(body.map { Data([$0]) }, nested: true) == whole)
        #expect(try parse([body]).filter { $0 == .partEnded }.count == 2)
    }

    @Test func truncatedNestedBodyIsATypedError() {
        let open = lines("--B|Content-Type: multipart/mixed; boundary=I||--I||x|--B--")
        #expect(code(open, nested: true) { _ in } == .truncated)
        #expect(code(open) { _ in } == nil)
        let none = lines("--B|Content-Type: multipart/mixed||--I||x|--I--|--B--")
        #expect(code(none, nested: true) { _ in } == .notMultipart)
        let bad = lines("--B|Content-Type: multipart/mixed; boundary=\"é\"||x|--B--")
        #expect(code(bad, nested: true) { _ in } == .invalidBoundary)
    }

    /// Quadratic time would take hours.
    @Test(arguments: ["\r", "\r\n--", "\r\n--Bx", "\r\n--B x", "\r\n--B-", "x", "\r\n--B\t\t\t\t\t\t\t\t\tx"])
    func timeGrowsWithTheLength(unit: String) throws {
        let content = Data([UInt8](repeating: 0, count: 1_000_000 / unit.utf8.count).flatMap { _ in unit.utf8 })
        let body = lines("--B||") + content + lines("x|--B--")
        let pieces = stride(from: 0, to: body.count, by: 7).map { body.subdata(in: $0..<min($0 + 7, body.count)) }
        #expect(try read([body]) == content.count + 1)
        #expect(try read(pieces) == content.count + 1)
    }

    @Test func longHeadersAreParsedInLinearTime() throws {
        let header = String(repeating: "A: b\r\n" + String(repeating: " c\r\n", count: 500), count: 100)
        let body = Data("--B\r\n\(header)\r\nx\r\n--B--".utf8)
        var limits = MultipartParser.Limits()
        limits.maximumHeaderBytes = .max
        limits.maximumHeaderFieldCount = .max
        let pieces = stride(from: 0, to: body.count, by: 3).map { body.subdata(in: $0..<min($0 + 3, body.count)) }
        #expect(try read(pieces, limits) == 1)
    }

    private func read(
        _ pieces: [Data], _ limits: MultipartParser.Limits = MultipartParser.Limits()
    ) throws(MultipartError) -> Int {
        var parser = try MultipartParser(boundary: "B", limits: limits)
        var count = 0
        for piece in pieces {
            parser.push(piece)
            while let event = try parser.next() { if case .data(let data) = event { count += data.count } }
        }
        try parser.finish()
        return count
    }
}
