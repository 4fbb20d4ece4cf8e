import FoundationEssentials
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(2))) struct XMLLimitTests {
    private func failure(_ text: String, _ options: XMLParsingOptions = XMLParsingOptions()) -> XMLSyntaxError? {
        #expect(throws: XMLSyntaxError.self) { _ = try XMLTree(parsing: Data(text.utf8), options: options) }
    }

    @Test func defaultsAreAsDocumented() {
        let options = XMLParsingOptions()
        #expect(options.maximumBytes == 268_435_456)
        #expect(options.maximumAttributes == 1000)
        #expect(options.maximumNameBytes == 1000)
        #expect(options.maximumTextBytes == 67_108_864)
        #expect(options.maximumExpansion == 4)
        #expect(XMLParsingOptions(maximumAttributes: 1_000_000).maximumAttributes == 10_000)
    }

    @Test func documentsAboveTheByteLimitAreRefusedUnread() {
        let error = failure("no XML at all", XMLParsingOptions(maximumBytes: 12))
        #expect(error?.kind == .tooLarge)
        #expect(error?.description == "The text is not acceptable XML: too large: 13 bytes, of at most 12.")
    }

    @Test func documentsOfMoreThanTenMillionBytesAreParsed() throws {
        let part = "<b>0123456789012345678901234567890123456789</b>\n"
        let text = "<a>\(String(repeating: part, count: 250_000))</a>"
        #expect(text.utf8.count > 11_000_000)
        var elements = 0
        try XMLEventParser().parse(Data(text.utf8)) { if case .startElement = $0 { elements += 1 } }
        #expect(elements == 250_001)
    }

    @Test(arguments: [
        ("<a>", "</a>"), ("<a><!--", "--></a>"), ("<a><![CDATA[", "]]></a>"), ("<a b='", "'/>"), ("<?p ", "?><a/>"),
    ])
    func textOfMoreThanTenMillionBytesIsParsed(before: String, after: String) throws {
        let size = 10_500_000
        var length = 0
        let text = before + String(repeating: "x", count: size) + after
        try XMLEventParser().parse(Data(text.utf8)) { event in
            switch event {
            case .text(let part), .cdata(let part), .comment(let part): length += part.utf8.count
            case .processingInstruction(_, let data): length += data?.utf8.count ?? 0
            case .startElement(_, let attributes): length += attributes["b"]?.utf8.count ?? 0
            case .endElement: break
            }
        }
        #expect(length == size)
        #expect(failure(text, XMLParsingOptions(maximumTextBytes: size - 1))?.kind == .tooLarge)
    }

    @Test func attributesAreLimitedBeforeParsing() throws {
        func element(_ count: Int) -> String { "<a" + (0..<count).map { " n\($0)=''" }.joined() + "/>" }
        #expect(try XMLTree(parsing: Data(element(1000).utf8)).root.attributes.count == 1000)
        let error = failure("<r>\n\n" + element(1001) + "</r>")
        #expect(error?.kind == .tooManyNodes)
        #expect(error?.line == 3)
        #expect(failure(element(200_000))?.kind == .tooManyNodes)
        #expect(
            try XMLTree(parsing: Data("<a b='\(String(repeating: "=", count: 2000))'/>".utf8)).root.attributes.count
                == 1)
    }

    @Test func eventsBeforeALimitAreDelivered() {
        var elements = 0
        #expect(throws: XMLSyntaxError.self) {
            let options = XMLParsingOptions(maximumAttributes: 1)
            try XMLEventParser(options: options).parse(Data("<a><b/><c d='' e=''/><f/></a>".utf8)) {
                if case .startElement = $0 { elements += 1 }
            }
        }
        #expect(elements == 2)
    }

    @Test func namespacesInScopeAreLimited() throws {
        let options = XMLParsingOptions(maximumAttributes: 10)
        let deep = (0..<11).map { "<a xmlns:n\($0)='urn:x'>" }.joined()
        #expect(failure(deep, options)?.kind == .tooManyNodes)
        let wide = String(repeating: "<b xmlns:n='urn:x'/>", count: 100)
        #expect(try XMLTree(parsing: Data("<a>\(wide)</a>".utf8), options: options).root.elements.count == 100)
    }

    @Test(arguments: [
        "<NAME/>", "<a NAME=''/>", "<a><NAME></a>", "<a></NAME>", "<!DOCTYPE NAME><a/>", "<p:NAME xmlns:p='u'/>",
    ])
    func namesAreLimited(template: String) {
        let long = template.replacing("NAME", with: String(repeating: "n", count: 1001))
        #expect(failure(long)?.kind == .tooLarge)
    }

    @Test func depthAndNamesAreLimitedByTheOptions() throws {
        let depth = XMLParsingOptions(maximumDepth: 1)
        #expect(failure("<a><b/></a>", depth)?.kind == .nestedTooDeep)
        #expect(try XMLTree(parsing: Data("<a/>".utf8), options: depth).root.name == "a")
        let names = XMLParsingOptions(maximumNameBytes: 4)
        #expect(failure("<abcde/>", names)?.kind == .tooLarge)
        #expect(try XMLTree(parsing: Data("<abcd/>".utf8), options: names).root.name == "abcd")
    }

    @Test func nameAtTheLimitIsParsed() throws {
        let name = String(repeating: "n", count: 1000)
        #expect(try XMLTree(parsing: Data("<\(name) \(name)='1'/>".utf8)).root.name == name)
    }

    @Test func millionUnclosedCommentsEnd() {
        #expect(failure("<a>" + String(repeating: "<!--", count: 1_000_000))?.kind == .malformed)
        #expect(failure("<a>" + String(repeating: "<![CDATA[", count: 500_000))?.kind == .malformed)
        #expect(failure("<a>" + String(repeating: "<?x ", count: 1_000_000))?.kind == .malformed)
    }

    @Test func millionUnclosedElementsAreRefused() {
        #expect(failure(String(repeating: "<a>", count: 1_000_000))?.kind == .nestedTooDeep)
        #expect(failure("<a>" + String(repeating: "</b>", count: 1_000_000))?.kind == .malformed)
    }

    private struct Names: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let part: @Sendable (Int) -> String
    }

    private static let names = [
        Names(testDescription: "elements") { "<n\($0)/>" },
        Names(testDescription: "attributes") { "<b n\($0)=''/>" },
        Names(testDescription: "targets") { "<?n\($0) x?>" },
        Names(testDescription: "prefixes") { "<b xmlns:n\($0)='urn:x'/>" },
        Names(testDescription: "namespaces") { "<b xmlns='urn:\($0)'/>" },
    ]

    @Test(arguments: names) private func distinctNamesAreLimited(names: Names) throws {
        func document(_ count: Int) -> String { "<a>\((0..<count).map(names.part).joined(separator: "\n"))</a>" }
        #expect(XMLParsingOptions().maximumDistinctNames == 30_000)
        #expect(XMLParsingOptions(maximumDistinctNames: 1_000_000).maximumDistinctNames == 200_000)
        var events = 0
        try XMLEventParser().parse(Data(document(29_000).utf8)) { _ in events += 1 }
        #expect(events > 29_000)
        let error = failure(document(31_000))
        #expect(error?.kind == .tooManyNodes)
        #expect(error?.detail == "more than 30000 distinct names")
        #expect((error?.line ?? 0) > 29_000)
        #expect(throws: Never.self) {
            try XMLEventParser(options: XMLParsingOptions(maximumDistinctNames: 40_000))
                .parse(Data(document(31_000).utf8)) { _ in }
        }
    }

    @Test func oneNameMayRepeat() throws {
        let text = "<a>\(String(repeating: "<b c=''/>", count: 100_000))</a>"
        try XMLEventParser(options: XMLParsingOptions(maximumDistinctNames: 100)).parse(Data(text.utf8)) { _ in }
    }

    @Test func storedOptionsMayLackALimit() throws {
        let options = XMLParsingOptions(maximumBytes: 1000, maximumDistinctNames: 77)
        let stored = try JSONEncoder().encode(options)
        #expect(try JSONDecoder().decode(XMLParsingOptions.self, from: stored) == options)
        #expect(try JSONDecoder().decode(XMLParsingOptions.self, from: Data("{}".utf8)) == XMLParsingOptions())
    }
}
