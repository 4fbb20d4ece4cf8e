import Foundation
import LinnetAFNetworkingXML
import Testing

/// Records the events of a parser as words.
final class ParserLog: XMLParserDelegate {
    var events: [String] = []
    /// The name of the element at which the parsing is aborted.
    var last: String?

    func parserDidStartDocument(_ parser: XMLParser) { events.append("begin") }

    func parserDidEndDocument(_ parser: XMLParser) { events.append("end") }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String]
    ) {
        let attributes = attributeDict.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined()
        events.append("+" + [elementName, namespaceURI, qName].compactMap { $0 }.joined(separator: "|") + attributes)
        if elementName == last { parser.abortParsing() }
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        events.append("-" + [elementName, namespaceURI, qName].compactMap { $0 }.joined(separator: "|"))
    }

    func parser(_ parser: XMLParser, didStartMappingPrefix prefix: String, toURI namespaceURI: String) {
        events.append("[\(prefix)=\(namespaceURI)")
    }

    func parser(_ parser: XMLParser, didEndMappingPrefix prefix: String) { events.append("]\(prefix)") }

    func parser(_ parser: XMLParser, foundCharacters string: String) { events.append(string) }

    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
        events.append("?\(target) \(data ?? "nothing")")
    }

    func parser(_ parser: XMLParser, foundComment comment: String) { events.append("!\(comment)") }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        events.append("error \((parseError as NSError).code)")
    }
}

@Suite(.timeLimit(.minutes(5))) struct XMLParserTests {
    private let namespaced = "<a xmlns='u' b='1'><x:c xmlns:x='v' x:d='2'/></a>"

    private func events(_ text: String, _ configure: (XMLParser, ParserLog) -> Void = { _, _ in }) -> [String] {
        let (parser, log) = (XMLParser(data: Data(text.utf8)), ParserLog())
        parser.delegate = log
        configure(parser, log)
        #expect(parser.parse() == (parser.parserError == nil))
        return log.events
    }

    @Test func namesAreAsWritten() {
        #expect(
            events(namespaced) == [
                "begin", "+a b=1 xmlns=u", "+x:c x:d=2 xmlns:x=v", "-x:c", "-a", "end",
            ])
    }

    @Test func namespacesAreReportedIfAskedFor() {
        let found = events(namespaced) { parser, _ in
            parser.shouldProcessNamespaces = true
            parser.shouldReportNamespacePrefixes = true
        }
        #expect(
            found == [
                "begin", "[=u", "+a|u|a b=1", "[x=v", "+c|v|x:c x:d=2", "-c|v|x:c", "]x", "-a|u|a", "]", "end",
            ])
    }

    @Test func allKindsOfContentAreReported() {
        let found = events("<?go?><a><!--note--><?to it?>text<![CDATA[<raw>]]></a>")
        #expect(found == ["begin", "?go nothing", "+a", "!note", "?to it", "text", "<raw>", "-a", "end"])
    }

    @Test func aDelegateCanAbort() {
        let found = events("<a><b/><c/></a>") { $1.last = "b" }
        #expect(found == ["begin", "+a", "+b", "error 512"])
    }

    @Test func aParserWithoutADelegateChecksTheDocument() {
        #expect(XMLParser(data: Data("<a/>".utf8)).parse())
        #expect(!XMLParser(data: Data("<a>".utf8)).parse())
    }

    @Test func aParserCanParseAgain() {
        let (parser, log) = (XMLParser(data: Data("<a>\n<b></a>".utf8)), ParserLog())
        parser.delegate = log
        #expect(!parser.parse() && parser.lineNumber == 2)
        let first = log.events
        log.events = []
        #expect(!parser.parse() && log.events == first && first.last == "error 1")
    }

    /// Documents that end the process in Foundation's parser on Linux, or that load or expand something.
    @Test(arguments: [
        "", "<?go?><a/>", "<a", "<a>\u{0}</a>", "<a>&none;</a>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA #IMPLIED>]><a/>",
        "<!DOCTYPE a [<!NOTATION n PUBLIC 'x'><!ENTITY u SYSTEM 'q' NDATA n>]><a/>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY z '&x;&x;'>]><a>&z;</a>",
        String(repeating: "<a>", count: 100_000),
    ]) func hostileDocumentsAreParsedOrRefused(text: String) {
        let found = events(text)
        #expect(found.first == "begin" && (found.last == "end" || found.last?.hasPrefix("error") == true))
        #expect(!found.contains { $0.contains("hostname") || $0 == "yy" })
    }

    @Test func bytesThatAreNoTextAreRefused() {
        let parser = XMLParser(data: Data([0x3C, 0x61, 0x3E, 0xFF, 0xFE, 0xC3, 0x28, 0x3C, 0x2F, 0x61, 0x3E]))
        #expect(!parser.parse())
        #expect((parser.parserError as NSError?)?.domain == XMLParser.errorDomain)
    }
}
