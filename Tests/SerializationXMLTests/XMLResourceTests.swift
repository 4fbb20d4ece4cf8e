import CLibXML2
import FoundationEssentials
import LinnetSerializationXML
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A document leaks no memory, and libxml2 prints nothing.
@Suite(.serialized, .timeLimit(.minutes(2))) struct XMLResourceTests {
    /// Each ends on another path; the first ones are well-formed.
    private static let documents: [Data] = [
        "<a b='c'>d<!--e--><?f g?><![CDATA[h]]></a>",
        "<!DOCTYPE a [<!ATTLIST a b (c|d|e) 'c'><!NOTATION n SYSTEM 'n'>]><a/>",
        "<!DOCTYPE a [<!ELEMENT a (b,(c|d)*)>]><a/>", "<?xml version='1.0' encoding='Shift_JIS'?><a>b</a>",
        "<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY z '&x;&x;'>]><a>&z;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'y'>%x;]><a/>",
        "<!DOCTYPE a SYSTEM 's'><a>&x;</a>", "<a>&x;</a>", "<a><b></a>", "<a b='c' b='d'/>", "<x:a/>", "<a><!-- ",
        "<a><![CDATA[",
        "<a b='", "<!DOCTYPE a [<!ATTLIST a b (c|d|e", "<!DOCTYPE a [<!ELEMENT a (b,(c|d", "<!DOCTYPE a PUBLIC 'p' 's",
        "<a>\u{1}</a>", "", "x", "<?xml version='1.0' encoding='none'?><a/>",
        "<?xml version='1.0' encoding='UTF-16'?><a/>",
        "<?xml version='3'?><a/>", "<a>]]></a>", "<?oasis-xml-catalog catalog='c'?><a/>",
        String(repeating: "<a>", count: 300), "<a " + (0..<1100).map { "n\($0)='' " }.joined() + "/>",
    ].map { Data($0.utf8) }

    private func readAll() {
        struct Enough: Error {}
        for document in Self.documents {
            _ = try? XMLTree(parsing: document)
            _ = try? XMLTree(parsing: document, charset: "ISO-8859-2", options: XMLParsingOptions(maximumNodes: 1))
            try? XMLEventParser().parse(document) { _ in throw Enough() }
        }
    }

    @Test func thousandsOfMalformedDocumentsLeakNoMemory() {
        BlockCount.start()
        for _ in 0..<5 { readAll() }
        let rounds = 50
        var growth = Int.max
        // Other suites may parse at the same time; a leak shows in each measurement.
        for _ in 0..<5 where growth >= rounds {
            let before = BlockCount.current
            for _ in 0..<rounds { readAll() }
            growth = min(growth, BlockCount.current - before)
        }
        #expect(growth < rounds, "\(growth) blocks are left of \(rounds * Self.documents.count * 3) documents")
    }

    @Test func countIncludesTheRest() {
        BlockCount.start()
        let before = BlockCount.current
        let left = (0..<1000).compactMap { _ in xmlStrdup("x") }
        #expect(BlockCount.current - before > 500)
        left.forEach { free($0) }
    }

    @Test func nothingIsPrinted() {
        final class Counter { var count = 0 }
        let counter = Counter()
        withExtendedLifetime(counter) {
            // The handler of this thread for errors that no other handler takes.
            xmlSetStructuredErrorFunc(Unmanaged.passUnretained(counter).toOpaque()) { pointer, _ in
                guard let pointer else { return }
                Unmanaged<Counter>.fromOpaque(pointer).takeUnretainedValue().count += 1
            }
            readAll()
            xmlSetStructuredErrorFunc(nil, nil)
        }
        #expect(counter.count == 0)
    }

    @Test func documentsAreParsedOnManyThreads() async {
        await withTaskGroup(of: Int.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let text =
                        "<a xmlns:p='urn:\(index)'>\((0..<200).map { "<p:n\($0) q\(index)='\($0)'/>" }.joined())</a>"
                    let tree = try? XMLTree(parsing: Data(text.utf8))
                    let good = tree?.root.elements.enumerated().filter { offset, element in
                        element.name == "n\(offset)" && element.attributes["q\(index)"] == "\(offset)"
                    }
                    return good?.count ?? 0
                }
            }
            for await count in group { #expect(count == 200) }
        }
    }
}

/// The number of blocks that libxml2 has allocated and not freed.
private enum BlockCount {
    private static let count = Atomic(0)

    static var current: Int { count.load(ordering: .relaxed) }

    /// Starts counting. It counts the blocks of the C library, so it may start at any time.
    static func start() {
        xmlMemSetup(
            { block in
                if block != nil { BlockCount.count.subtract(1, ordering: .relaxed) }
                free(block)
            },
            { size in
                BlockCount.count.add(1, ordering: .relaxed)
                return malloc(size)
            },
            { block, size in
                if block == nil { BlockCount.count.add(1, ordering: .relaxed) }
                return realloc(block, size)
            },
            { text in
                BlockCount.count.add(1, ordering: .relaxed)
                return text.flatMap { strdup($0) }
            })
    }
}
