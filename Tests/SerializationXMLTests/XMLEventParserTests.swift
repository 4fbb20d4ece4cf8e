import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(5))) struct XMLEventParserTests {
    private func response(_ text: String, status: HTTPResponse.Status = .ok) -> SerializedResponse {
        var head = HTTPResponse(status: status)
        head.headerFields[.contentType] = "application/xml"
        return SerializedResponse(head: head, body: Data(text.utf8))
    }

    @Test func eventsComeInOrder() throws {
        var events: [XMLEvent] = []
        let text = "<?p d?><a x=\"1\"><s:b xmlns:s=\"urn:s\"/>t<![CDATA[<c>]]><!--n--></a>"
        try XMLEventParser().parse(Data(text.utf8)) { events.append($0) }
        #expect(
            events == [
                .processingInstruction(target: "p", data: "d"), .startElement(XMLName("a"), attributes: ["x": "1"]),
                .startElement(XMLName("b", namespace: "urn:s"), attributes: [:]),
                .endElement(XMLName("b", namespace: "urn:s")), .text("t"), .cdata("<c>"), .comment("n"),
                .endElement(XMLName("a")),
            ])
    }

    @Test func throwingFromTheHandlerEndsParsing() {
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            try XMLEventParser().parse(Data("<a><b/><b/><b/></a>".utf8)) { _ in
                count += 1
                if count == 2 { throw Enough() }
            }
        }
        #expect(count == 2)
    }

    @Test func eventsBeforeASyntaxErrorAreDelivered() {
        var count = 0
        let error = #expect(throws: XMLSyntaxError.self) {
            try XMLEventParser().parse(Data("<a><b/></c>".utf8)) { _ in count += 1 }
        }
        #expect(error?.kind == .malformed)
        #expect(count >= 3)
    }

    @Test func eventSerializerValidatesAndParsesLater() throws {
        let source = try XMLEventResponseSerializer().serialize(response("<a>t</a>"))
        for _ in 0..<2 {
            var text = ""
            try source.forEachEvent { if case .text(let part) = $0 { text += part } }
            #expect(text == "t")
        }
        let bad = try XMLEventResponseSerializer().serialize(response("<a>"))
        let error = #expect(throws: SerializationError.self) { try bad.forEachEvent { _ in } }
        #expect(error?.code == .decodingFailed)
        #expect(error?.response?.body == Data("<a>".utf8))
        let status = #expect(throws: SerializationError.self) {
            try XMLEventResponseSerializer().serialize(response("<a>", status: .notFound))
        }
        #expect(status?.code == .unacceptableStatus)
    }

    @Test func everySettingSurvivesCoding() throws {
        var options = XMLParsingOptions(maximumDepth: 7, maximumNodes: 8, maximumExpansion: 9)
        options.maximumBytes = 10
        options.maximumAttributes = 11
        options.maximumNameBytes = 12
        options.maximumTextBytes = 13
        options.maximumDistinctNames = 14
        var validation = ResponseValidation(statusCodes: 201..<300, contentTypes: ["a/b"])
        validation.acceptsEmptyBody = false
        let tree = XMLResponseSerializer(validation: validation, options: options)
        #expect(unchangedSettings(in: tree, from: XMLResponseSerializer()) == [])
        #expect(try JSONDecoder().decode(XMLResponseSerializer.self, from: JSONEncoder().encode(tree)) == tree)
        let events = XMLEventResponseSerializer(validation: validation, options: options)
        #expect(unchangedSettings(in: events, from: XMLEventResponseSerializer()) == [])
        #expect(try JSONDecoder().decode(XMLEventResponseSerializer.self, from: JSONEncoder().encode(events)) == events)
    }
}
