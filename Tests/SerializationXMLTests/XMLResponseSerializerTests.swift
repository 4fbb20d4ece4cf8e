import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(5))) struct XMLResponseSerializerTests {
    private func read(_ text: String, depth: Int = 256, type: String? = "application/xml") throws -> XMLTree? {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = type
        let response = SerializedResponse(head: head, body: Data(text.utf8))
        return try XMLResponseSerializer(options: XMLParsingOptions(maximumDepth: depth)).serialize(response)
    }

    @Test func readsElementsAttributesTextAndCDATAInOrder() throws {
        let text = "<?xml version=\"1.0\"?><a x=\"1\">one<b>two</b><![CDATA[<three>]]>&amp;<!-- no --><b/></a>"
        let expected = XMLTree.Element(
            "a",
            attributes: ["x": "1"],
            children: [
                .text("one"), .element(XMLTree.Element("b", children: [.text("two")])), .text("<three>&"),
                .element(XMLTree.Element("b")),
            ]
        )
        let tree = try #require(try read(text))
        #expect(tree.root == expected)
        #expect(tree.root["b"]?.text == "two")
        #expect(tree.root.elements.count == 2)
        #expect(tree.root.text == "onetwo<three>&")
    }

    @Test func knowsNamespaces() throws {
        let tree = try #require(try read("<s:feed xmlns:s=\"urn:x\"><s:title>t</s:title><plain/></s:feed>"))
        #expect(tree.root.name == "feed")
        #expect(tree.root.namespace == "urn:x")
        #expect(tree.root["title"]?.namespace == "urn:x")
        #expect(tree.root["plain"]?.namespace == nil)
    }

    @Test(arguments: ["application/xml", "text/xml", "application/atom+xml", "image/svg+xml; charset=utf-8"])
    func acceptsXMLTypes(type: String) throws {
        #expect(try read("<a/>", type: type) != nil)
    }

    @Test(arguments: ["nonstandard/xml", "text/html", "application/json"])
    func refusesOtherTypes(type: String) {
        let error = #expect(throws: SerializationError.self) { try read("<a/>", type: type) }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test func emptyBodyIsNil() throws {
        #expect(try read("") == nil)
    }

    @Test(arguments: ["<a>", "<a></b>", "no", "<a/><b/>", "<a>&undefined;</a>", "\u{0}", "<a b=c/>"])
    func malformedTextIsATypedError(text: String) {
        let error = #expect(throws: SerializationError.self) { try read(text) }
        #expect(error?.code == .decodingFailed)
        #expect((error?.underlying as? XMLSyntaxError)?.kind == .malformed)
        #expect(error?.response?.body == Data(text.utf8))
    }

    @Test func depthIsLimited() throws {
        let text = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
        #expect(try read(text, depth: 100) != nil)
        let error = #expect(throws: SerializationError.self) { try read(text, depth: 99) }
        #expect(error?.code == .nestedTooDeep)
    }

    @Test func hundredThousandLevelsAreRefusedWithoutACrash() {
        #expect(throws: SerializationError.self) { try read(String(repeating: "<a>", count: 100_000), depth: 1024) }
    }

    @Test func keywordInTextIsNotADeclaration() throws {
        #expect(try read("<a><![CDATA[<!ENTITY x \"y\">]]></a>")?.root.text == "<!ENTITY x \"y\">")
    }
}
