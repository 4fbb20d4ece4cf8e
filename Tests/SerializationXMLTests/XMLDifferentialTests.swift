import CommandSupport
import FoundationEssentials
import LinnetSerializationXML
import Testing

/// Compares well-formedness with expat, through Python.
@Suite(.timeLimit(.minutes(2))) struct XMLDifferentialTests {
    /// Reads one document per line, in hexadecimal, and prints whether expat accepts it with namespaces.
    private static let judge = """
        import sys
        from xml.parsers import expat
        for line in sys.stdin:
            parser = expat.ParserCreate(namespace_separator="\\x01")
            try:
                parser.Parse(bytes.fromhex(line.strip()), True)
                print("yes")
            except expat.ExpatError as error:
                print("no", error)
        """

    private static let hasPython = (try? Command.run(["python3", "-c", "import xml.parsers.expat"]))?.status == 0

    /// The documents for which the two differ, and why.
    private static let differences = [
        "<?xml version=''?><a/>": "expat takes any version, production 26 does not",
        "<!DOCTYPE a [%p;]><a/>":
            "libxml2 refuses a parameter entity that is not declared where nothing external could declare it",
    ]

    @Test func tableHasAllDocuments() {
        #expect(XMLGrammarDocuments.all.count > 700)
    }

    @Test(.enabled(if: hasPython)) func expatAgrees() throws {
        let documents = XMLGrammarDocuments.all
        try compare(documents.map { Array($0.utf8) }, names: documents)
    }

    private func compare(_ documents: [[UInt8]], names: [String]) throws {
        let lines = documents.map { document in
            document.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let answer = try Command.run(["python3", "-c", Self.judge], input: lines.joined(separator: "\n") + "\n")
        let verdicts = answer.text.split(separator: "\n")
        try #require(verdicts.count == documents.count, "\(answer.errors)")
        var read = 0
        for (index, verdict) in verdicts.enumerated() where Self.differences[names[index]] == nil {
            let result = Result { try XMLTree(parsing: Data(documents[index])) }
            switch result {
            case .success:
                read += 1
                #expect(verdict == "yes", "\(names[index].debugDescription) was read; expat: \(verdict)")
            case .failure(let error as XMLSyntaxError):
                // Entities are refused whether they are well-formed or not.
                let isPolicy = error.kind == .entityDeclaration || error.kind == .entityReference
                #expect(isPolicy || verdict != "yes", "\(names[index].debugDescription) was refused: \(error)")
            case .failure(let error):
                Issue.record(error)
            }
        }
        #expect(read > documents.count / 4)
    }
}
