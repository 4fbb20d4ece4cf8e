import FoundationEssentials
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(1))) struct XMLDocumentTypeTests {
    private func root(_ text: String) throws -> XMLTree.Element { try XMLTree(parsing: Data(text.utf8)).root }
    private func failure(_ text: String) -> XMLSyntaxError.Kind? {
        #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: Data(text.utf8)) }?.kind
    }

    @Test(arguments: [
        "<!DOCTYPE a><a/>", "<!DOCTYPE a []><a/>", "<!DOCTYPE a [ <!-- ' ]> --> ]><a/>",
        "<!DOCTYPE a [<?p don't ]> ?>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA #IMPLIED>]><a/>", "<!DOCTYPE a [<!ATTLIST a b CDATA #REQUIRED>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA #FIXED 'x'>]><a/>", "<!DOCTYPE a [<!ATTLIST a>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b ID #IMPLIED c IDREF #IMPLIED d IDREFS #IMPLIED>]><a b='x'/>",
        "<!DOCTYPE a [<!ATTLIST a b ENTITY #IMPLIED c ENTITIES #IMPLIED>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b NMTOKEN #IMPLIED c NMTOKENS #IMPLIED>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b (x|y) 'x'>]><a/>", "<!DOCTYPE a [<!ATTLIST a b (x|x) #REQUIRED>]><a/>",
        "<!DOCTYPE a [<!NOTATION n SYSTEM \"x\">]><a/>", "<!DOCTYPE a [<!NOTATION n PUBLIC \"x\">]><a/>",
        "<!DOCTYPE a [<!NOTATION n PUBLIC 'p' 's'><!ATTLIST a b NOTATION (n) #IMPLIED>]><a/>",
        "<!DOCTYPE a [<!ELEMENT a EMPTY>]><a/>", "<!DOCTYPE a [<!ELEMENT a ANY>]><a/>",
        "<!DOCTYPE a [<!ELEMENT a (#PCDATA)>]><a/>", "<!DOCTYPE a [<!ELEMENT a (#PCDATA|b|c)*>]><a/>",
        "<!DOCTYPE a [<!ELEMENT a (b?,(c|d)+,e*)>]><a><wrong/></a>", "<!DOCTYPE other [<!ELEMENT a EMPTY>]><a>text</a>",
        "<!DOCTYPE a SYSTEM 'a.dtd' [<!ATTLIST a b CDATA #IMPLIED>]><a/>", "<!DOCTYPE a PUBLIC '-//X' \"it's\"><a/>",
        "<!DOCTYPE a SYSTEM 'a.dtd' [%all;]><a/>",
    ])
    func documentTypesAreSkipped(text: String) throws {
        #expect(try root(text).name == "a")
    }

    @Test(arguments: [
        "<!DOCTYPE><a/>", "<!DOCTYPE a", "<!DOCTYPE a [", "<!DOCTYPE a [<!ATTLIST",
        "<!DOCTYPE a [<!ATTLIST a b CDATA>]><a/>",
        "<!DOCTYPE a [<!ATTLIST a b (x|) #IMPLIED>]><a/>", "<!DOCTYPE a [<!NOTATION n>]><a/>", "<!DOCTYPE a [x]><a/>",
        "<!DOCTYPE a [<!ELEMENT a (b,c|d)>]><a/>", "<!DOCTYPE a [<![IGNORE[x]]>]><a/>", "<!DOCTYPE a []]><a/>",
        "<a/><!DOCTYPE a>", "<!DOCTYPE a><!DOCTYPE a><a/>", "<!DOCTYPE a [%all;]><a/>", "<a><!ELEMENT a ANY></a>",
    ])
    func malformedDocumentTypesAreRefused(text: String) {
        #expect(failure(text) == .malformed)
    }

    @Test func defaultValuesOfTheDocumentTypeAreGiven() throws {
        let text = "<!DOCTYPE a [<!ATTLIST a b CDATA 'one' c CDATA 'two'>]><a c='three'/>"
        #expect(try root(text).attributes == ["b": "one", "c": "three"])
        #expect(try root("<!DOCTYPE a [<!ATTLIST a b NMTOKENS #IMPLIED>]><a b='  x   y '/>").attributes == ["b": "x y"])
        let space = "<!DOCTYPE a [<!ATTLIST a xmlns CDATA 'urn:a'>]><a/>"
        #expect(try root(space).namespace == "urn:a")
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a/>",
        "<!DOCTYPE a [<!ENTITY % x 'y'>]><a/>", "<!DOCTYPE a [<!ENTITY % x '<!ENTITY y \"z\">'> %x;]><a>&y;</a>",
        "<!DOCTYPE a [<!NOTATION n SYSTEM 'n'><!ENTITY x SYSTEM 'y' NDATA n>]><a/>",
        "<!DOCTYPE a [<!ENTITY lt '&#38;#60;'>]><a/>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'http://127.0.0.1:1/'>]><a>&x;</a>",
    ])
    func declaredEntitiesAreRefused(text: String) {
        #expect(failure(text) == .entityDeclaration)
    }

    @Test(arguments: [
        "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'xhtml1-strict.dtd'><html>a&nbsp;b</html>",
        "<!DOCTYPE a SYSTEM 'a.dtd'><a b='&x;'/>",
    ])
    func entityOfAnExternalDocumentTypeHasItsOwnError(text: String) {
        #expect(failure(text) == .entityReference)
    }

    @Test func predefinedEntitiesAndCharacterReferencesAreResolved() throws {
        let element = try root(
            "<a b='&lt;&gt;&amp;&apos;&quot;&#65;&#x1F600;'>&lt;&gt;&amp;&apos;&quot;&#65;&#x1F600;</a>")
        #expect(element.text == "<>&'\"A😀")
        #expect(element.attributes["b"] == "<>&'\"A😀")
    }

    /// A default value is declared once, and added to each element.
    @Test func defaultValuesDoNotGrowBeyondTheDocument() {
        let value = String(repeating: "x", count: 10_000)
        let text = "<!DOCTYPE a [<!ATTLIST b c CDATA '\(value)'>]><a>\(String(repeating: "<b/>", count: 10_000))</a>"
        #expect(failure(text) == .expandsTooMuch)
    }

    @Test func manyDefaultValuesAreRefused() {
        let list = (0..<2000).map { "n\($0) CDATA ''" }.joined(separator: " ")
        #expect(
            failure("<!DOCTYPE a [<!ATTLIST b \(list)>]><a>\(String(repeating: "<b/>", count: 100_000))</a>")
                == .tooManyNodes)
        // After an error, libxml2 must not parse the rest.
        let broken =
            "<!DOCTYPE a [<!ATTLIST b \(list.prefix(12_000))>]><a>&\(String(repeating: "<b/>", count: 500_000))</a>"
        #expect(failure(broken) == .malformed)
    }

    @Test func manyAlternativesAreRefused() {
        let names = (0..<300_000).map { "n\($0)" }
        #expect(
            failure("<!DOCTYPE a [<!ATTLIST a b (\(names.joined(separator: "|"))) #IMPLIED>]><a/>") == .tooManyNodes)
        #expect(failure("<!DOCTYPE a [<!ELEMENT a (\(names.joined(separator: ",")))>]><a/>") == .tooManyNodes)
        let nested = String(repeating: "(", count: 100_000)
        #expect(failure("<!DOCTYPE a [<!ELEMENT a \(nested)") == .tooManyNodes)
        let declarations = names.map { "<!ELEMENT \($0) ANY>" }.joined()
        #expect(failure("<!DOCTYPE a [\(declarations)]><a/>") == .tooManyNodes)
    }
}
