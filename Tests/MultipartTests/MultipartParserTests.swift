import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

/// A body, written with `|` for CR LF, and its parts.
struct ParserCase: Sendable, CustomTestStringConvertible {
    /// A header's lines, joined with `/`, and the content; or a code.
    enum Outcome: Sendable {
        case parts([(String, String)])
        case failure(MultipartError.Code)
    }

    let rule: String
    let body: String
    let outcome: Outcome

    init(_ rule: String, _ body: String, _ parts: [(String, String)]) {
        (self.rule, self.body, outcome) = (rule, body, .parts(parts))
    }

    init(_ rule: String, _ body: String, _ code: MultipartError.Code) {
        (self.rule, self.body, outcome) = (rule, body, .failure(code))
    }

    var testDescription: String { rule }

    static let all = [
        ParserCase("one part", "--B|A: b||x|--B--|", [("A: b", "x")]),
        ParserCase("two parts", "--B|A: b||x|--B|C: d||y|--B--|", [("A: b", "x"), ("C: d", "y")]),
        ParserCase("no line end after the last delimiter", "--B|A: b||x|--B--", [("A: b", "x")]),
        ParserCase("no header", "--B||x|--B--", [("", "x")]),
        ParserCase("no header and no content", "--B|||--B--", [("", "")]),
        ParserCase("no content", "--B|A: b|||--B--", [("A: b", "")]),
        ParserCase("the empty line's end is the delimiter's", "--B|A: b||--B--", [("A: b", "")]),
        ParserCase("the same between parts", "--B||--B||--B--", [("", ""), ("", "")]),
        ParserCase("no part", "--B--", []),
        ParserCase("no part, with a line end before", "|--B--|", []),
        ParserCase("a preamble is passed over", "This is MIME.|More.|--B||x|--B--", [("", "x")]),
        ParserCase("a preamble like a delimiter", "-|--|--C|--|--B||x|--B--", [("", "x")]),
        ParserCase("a delimiter within a line is none", "x--B||--B||y--B|--B--", [("", "y--B")]),
        ParserCase("an epilogue is passed over", "--B||x|--B--|bye|--B||y|--B--", [("", "x")]),
        ParserCase("an epilogue without a line end", "--B||x|--B--bye", [("", "x")]),
        ParserCase("padding behind a delimiter", "--B \t ||x|--B\t|A: b||y|--B--  |", [("", "x"), ("A: b", "y")]),
        ParserCase(
            "128 spaces of padding", "--B\(String(repeating: " ", count: 128))||x|--B--", [("", "x")]),
        ParserCase(
            "129 spaces are content", "--B||x|--B\(String(repeating: " ", count: 129))|y|--B--",
            [("", "x|--B\(String(repeating: " ", count: 129))|y")]),
        ParserCase("a longer line is no delimiter", "--B||x|--Bx|y|--B--", [("", "x|--Bx|y")]),
        ParserCase("one hyphen makes no last delimiter", "--B||x|--B-|y|--B--", [("", "x|--B-|y")]),
        ParserCase("padding, then something else", "--B||x|--B  y|--B--", [("", "x|--B  y")]),
        ParserCase("padding, then CR alone", "--B||x|--B \r--B--|--B--", [("", "x|--B \r--B--")]),
        ParserCase("a delimiter needs CR LF before it", "--B||x\n--B\n\r--B|--B--", [("", "x\n--B\n\r--B")]),
        ParserCase("a part of a delimiter again and again", "--B||||-|--||--|--B--", [("", "||-|--||--")]),
        ParserCase("line ends before the delimiter are content", "--B||x|||--B--", [("", "x||")]),
        ParserCase("content like a header", "--B||A: b|--B--", [("", "A: b")]),
        ParserCase("several fields", "--B|A: b|C:d|A:  e \t||x|--B--", [("A: b/C: d/A: e", "x")]),
        ParserCase("an empty value", "--B|A:||x|--B--", [("A: ", "x")]),
        ParserCase("folded lines", "--B|A: b| c|\t  d|E: f||x|--B--", [("A: b c d/E: f", "x")]),
        ParserCase("bytes beyond ASCII", "--B|A: é🐦||ü|--B--", [("A: é🐦", "ü")]),
        ParserCase("nothing", "", .truncated),
        ParserCase("text alone", "hello", .truncated),
        ParserCase("a delimiter without its line end", "--B", .truncated),
        ParserCase("an open header", "--B|A: b|", .truncated),
        ParserCase("an open part", "--B|A: b||x", .truncated),
        ParserCase("an open last delimiter", "--B||x|--B-", .truncated),
        ParserCase("a field without a colon", "--B|A||x|--B--", .malformedHeader),
        ParserCase("a field without a name", "--B|: b||x|--B--", .malformedHeader),
        ParserCase("a space before the colon", "--B|A : b||x|--B--", .malformedHeader),
        ParserCase("a folded line with nothing before it", "--B| A: b||x|--B--", .malformedHeader),
        ParserCase("LF alone in a header", "--B|A: b\nC: d||x|--B--", .malformedHeader),
        ParserCase("CR alone in a header", "--B|A: b\rC: d||x|--B--", .malformedHeader),
        ParserCase("NUL in a header", "--B|A: b\0||x|--B--", .malformedHeader),
        ParserCase("a delimiter in a header", "--B|A: b|--B--|", .malformedHeader),
    ]
}

@Suite(.timeLimit(.minutes(5))) struct MultipartParserTests {
    private func describe(_ events: [MultipartParser.Event]) -> [(String, String)] {
        var parts: [(String, String)] = []
        for event in events {
            switch event {
            case .partBegan(let head):
                parts.append((head.headerFields.map { "\($0.name): \($0.value)" }.joined(separator: "/"), ""))
            case .data(let data): parts[parts.count - 1].1 += String(decoding: data, as: UTF8.self)
            case .partEnded: break
            }
        }
        return parts
    }

    private func check(_ pieces: [Data], _ sample: ParserCase, _ cut: String) {
        switch sample.outcome {
        case .parts(let expected):
            do {
                let parts = describe(try parse(pieces))
                #expect(parts.map(\.0) == expected.map(\.0), "\(cut)")
                #expect(parts.map(\.1) == expected.map { $0.1.replacing("|", with: "\r\n") }, "\(cut)")
            } catch {
                Issue.record(error, "\(cut)")
            }
        case .failure(let code):
            let error = #expect(throws: MultipartError.self, "\(cut)") { try parse(pieces) }
            #expect(error?.code == code, "\(cut)")
        }
    }

    @Test(arguments: ParserCase.all) func bodiesAreParsedInAnyPieces(sample: ParserCase) {
        let body = lines(sample.body)
        check([body], sample, "whole")
        for offset in 0...body.count {
            check([body.prefix(offset), body.dropFirst(offset)], sample, "cut at \(offset)")
        }
        check(body.map { Data([$0]) }, sample, "byte by byte")
    }

    @Test func slicesAndArraysCanBePushed() throws {
        var parser = try MultipartParser(boundary: "B")
        parser.push(Array("--B\r\n".utf8))
        parser.push(lines("zz|x|--B--zz").dropFirst(2).dropLast(2))
        #expect(try parser.next() != nil)
        #expect(try parser.next() == .data(Data("x".utf8)))
        #expect(!parser.isComplete)
        #expect(try parser.next() == .partEnded)
        #expect(try parser.next() == nil)
        #expect(parser.isComplete)
        try parser.finish()
    }

    @Test func errorIsThrownAgain() throws {
        var parser = try MultipartParser(boundary: "B")
        parser.push(lines("--B|bad||x|--B--"))
        for _ in 0..<2 {
            let error = #expect(throws: MultipartError.self) { try parser.next() }
            #expect(error?.code == .malformedHeader)
        }
        let error = #expect(throws: MultipartError.self) { try parser.finish() }
        #expect(error?.code == .malformedHeader)
    }

    @Test(arguments: [
        ("multipart/form-data", MultipartError.Code.notMultipart), ("text/plain; boundary=B", .notMultipart),
        ("", .notMultipart), ("multipart/mixed; boundary=\"\"", .invalidBoundary),
        ("multipart/mixed; boundary=\"a \"", .invalidBoundary), ("multipart/mixed; boundary=\"ü\"", .invalidBoundary),
        ("multipart/mixed; boundary=\(String(repeating: "a", count: 71))", .invalidBoundary),
    ])
    func contentTypeRequiresABoundary(contentType: String, code: MultipartError.Code) {
        let error = #expect(throws: MultipartError.self) { try MultipartParser(contentType: contentType) }
        #expect(error?.code == code)
    }

    @Test(arguments: [
        #"Multipart/Mixed; charset=utf-8; Boundary="a b:c""#, "multipart/byteranges;boundary=\"a b:c\"",
    ])
    func boundariesComeFromTheContentType(contentType: String) throws {
        let parts = try MultipartPart.all(in: lines("--a b:c||x|--a b:c--"), contentType: contentType)
        #expect(parts.map(\.body) == [Data("x".utf8)])
    }
}
