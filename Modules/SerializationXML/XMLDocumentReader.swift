import CLibXML2

/// Reads one document with libxml2, and enforces the limits on its content.
///
/// libxml2 reads its input from an ``XMLSource``. After a failure, the source ends: libxml2 then still parses the few
/// thousand bytes in its buffer. Stopping it at once is unnecessary, and unsafe while it reports an error.
final class XMLDocumentReader {
    /// Handles an event, together with the spelling of its tag.
    typealias Handler = (XMLEvent, XMLTagSpelling) throws -> Void

    private let options: XMLParsingOptions
    private let isSpelled: Bool
    private let handler: Handler
    private var source: XMLSource
    private var names = XMLNameTable()
    private var context: xmlParserCtxtPtr?
    private var failure: (any Error)?
    /// Why the source ended. libxml2 reads ahead, so that events from before may follow.
    private var sourceFailure: XMLSyntaxError?

    /// The open elements, each with the number of namespaces that it declares.
    private var open: [(name: XMLName, namespaces: Int)] = []
    private var namespaces = 0
    private var nodes = 0
    private var defaults = 0
    /// The number of names that libxml2 has stored before it parses.
    private var libraryNames = 0
    /// The number of bytes of text that are still allowed.
    private var budget: Int

    private static let start: Void = xmlInitParser()
    /// No network access; limits and encodings are handled in this module.
    ///
    /// XML_PARSE_NOENT makes `&amp;` in an attribute's value arrive as `&` instead of `&#38;`. It substitutes nothing
    /// else: the callbacks offer no entities, and a document that declares entities is refused.
    private static let options = CInt(
        XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue | XML_PARSE_IGNORE_ENC.rawValue | XML_PARSE_NOENT.rawValue)

    /// The bytes must outlive the reader.
    init(
        _ bytes: UnsafeRawBufferPointer, charset: String?, options: XMLParsingOptions, isSpelled: Bool,
        handler: @escaping Handler
    ) throws(XMLSyntaxError) {
        guard bytes.count <= options.maximumBytes else {
            throw XMLSyntaxError(
                kind: .tooLarge, line: 0, detail: "\(bytes.count) bytes, of at most \(options.maximumBytes)")
        }
        self.options = options
        self.isSpelled = isSpelled
        self.handler = handler
        let converters = try XMLEncoding.converters(of: bytes, charset: charset)
        source = try XMLSource(bytes, converters: converters, options: options)
        budget = options.budget(for: bytes.count)
    }

    /// Reads the document to its end, or to the first failure, which it throws.
    func read() throws {
        Self.start
        try withExtendedLifetime(self) {
            var callbacks = Self.callbacks
            let me = Unmanaged.passUnretained(self).toOpaque()
            let parser = xmlCreateIOParserCtxt(&callbacks, me, Self.readInput, nil, me, XML_CHAR_ENCODING_UTF8)
            guard let parser else {
                throw XMLSyntaxError(kind: .malformed, line: 0, detail: "libxml2 could not make a parser")
            }
            context = parser
            defer {
                context = nil
                linnet_xml_free_context(parser)
            }
            xmlCtxtUseOptions(parser, Self.options)
            libraryNames = parser.pointee.dict.map { xmlDictSize($0) }.map { Int($0) } ?? 0
            xmlParseDocument(parser)
            if let failure = failure ?? sourceFailure { throw failure }
            guard linnet_xml_is_well_formed(parser) == 1 else { throw syntaxError(.malformed, nil) }
        }
    }

    // MARK: Callbacks

    func input(into output: UnsafeMutableRawBufferPointer) -> Int {
        guard failure == nil, sourceFailure == nil else { return 0 }
        do throws(XMLSyntaxError) {
            return try source.read(into: output)
        } catch {
            sourceFailure = error
            return 0
        }
    }

    /// Limits the distinct names, each of which libxml2 stores once. Between two events, it adds no more names than the
    /// limits on a tag and on a document type allow.
    private func checkNames() {
        guard failure == nil, let context, let names = context.pointee.dict else { return }
        guard Int(xmlDictSize(names)) > options.maximumDistinctNames + libraryNames else { return }
        fail(.tooManyNodes, "more than \(options.maximumDistinctNames) distinct names")
    }

    func startElement(_ tag: XMLStartTag) {
        checkNames()
        guard failure == nil else { return }
        nodes += 1 + tag.attributes.count + tag.namespaceCount
        namespaces += tag.namespaceCount
        if open.count >= options.maximumDepth {
            return fail(.nestedTooDeep, "more than \(options.maximumDepth) levels")
        }
        if nodes > options.maximumNodes { return fail(.tooManyNodes, "more than \(options.maximumNodes)") }
        if tag.attributes.count + tag.namespaceCount > options.maximumAttributes
            || namespaces > options.maximumAttributes
        {
            return fail(.tooManyNodes, "more than \(options.maximumAttributes) attributes or namespaces at once")
        }
        // Values from the document type are not in the bytes of the document.
        guard spend(tag.attributes.reduce(0) { $0 + $1.value.count }) else { return }
        let name = XMLName(
            names.string(tag.localName), namespace: tag.namespace.map { names.string($0) })
        open.append((name, tag.namespaceCount))
        var spelling = XMLTagSpelling()
        if isSpelled {
            spelling.prefix = tag.prefix.map { names.string($0) }
            for (prefix, namespace) in tag.namespaces {
                spelling.declarations.append(
                    (prefix.map { names.string($0) } ?? "", namespace.map { names.string($0) } ?? ""))
            }
        }
        let attributes: [String: String]
        (attributes, spelling.attributeNamespaces) = strings(of: tag.attributes)
        tell(.startElement(name, attributes: attributes), spelling)
    }

    func endElement() {
        guard failure == nil, let element = open.popLast() else { return }
        namespaces -= element.namespaces
        tell(.endElement(element.name))
    }

    func text(_ bytes: UnsafeBufferPointer<xmlChar>) {
        guard failure == nil, !open.isEmpty, spend(bytes.count) else { return }
        tell(.text(String(decoding: bytes, as: UTF8.self)))
    }

    func cdata(_ bytes: UnsafeBufferPointer<xmlChar>) {
        guard failure == nil, spend(bytes.count) else { return }
        tell(.cdata(String(decoding: bytes, as: UTF8.self)))
    }

    func comment(_ text: UnsafePointer<xmlChar>) {
        guard failure == nil, spend(xmlStrlen(text)) else { return }
        tell(.comment(String(cString: text)))
    }

    func processingInstruction(target: UnsafePointer<xmlChar>, data: UnsafePointer<xmlChar>?) {
        checkNames()
        guard failure == nil, spend(data.map { xmlStrlen($0) } ?? 0) else { return }
        tell(.processingInstruction(target: String(cString: target), data: data.map { String(cString: $0) }))
    }

    func entityDeclaration(_ name: UnsafePointer<xmlChar>?) {
        guard failure == nil else { return }
        fail(.entityDeclaration, name.map { XMLEncoding.shown(String(cString: $0)) })
    }

    func attributeDeclaration(hasDefault: Bool) {
        checkNames()
        if hasDefault { attributeDefault() }
    }

    /// A declared default is added to each element of its name, in quadratic time.
    private func attributeDefault() {
        guard failure == nil else { return }
        defaults += 1
        if defaults > options.maximumAttributes { fail(.tooManyNodes, "more than \(defaults - 1) default values") }
    }

    func error(_ error: xmlError) {
        guard failure == nil, let kind = Self.kind(of: error) else { return }
        // A document cut off by a limit is malformed, but the limit is the cause.
        if kind == .malformed, sourceFailure != nil { return }
        let detail = error.message.map { Self.line(String(cString: $0)) }
        failure = XMLSyntaxError(kind: kind, line: Int(error.line), detail: detail)
    }

    // MARK: State

    /// Errors that violate Namespaces in XML 1.0. A namespace that is relative, or is not a URI, violates no rule.
    private static let namespaceErrors =
        CInt(XML_NS_ERR_XML_NAMESPACE.rawValue)...CInt(XML_NS_ERR_COLON.rawValue)

    /// The kind of an error; nil for warnings, such as about version 1.1, and for errors of validity: a document that
    /// is well-formed is read.
    private static func kind(of error: xmlError) -> XMLSyntaxError.Kind? {
        switch error.level {
        case XML_ERR_FATAL: return .malformed
        case XML_ERR_ERROR: break
        default: return nil
        }
        if error.code == CInt(XML_WAR_UNDECLARED_ENTITY.rawValue) { return .entityReference }
        let isOfNamespaces = error.domain == CInt(XML_FROM_NAMESPACE.rawValue)
        return isOfNamespaces && namespaceErrors.contains(error.code) ? .malformed : nil
    }

    private func strings(of attributes: [XMLStartTag.Attribute]) -> ([String: String], [String: String]) {
        guard !attributes.isEmpty else { return ([:], [:]) }
        var values: [String: String] = Dictionary(minimumCapacity: attributes.count)
        var namespaces: [String: String] = [:]
        for attribute in attributes {
            let name = names.string(prefix: attribute.prefix, localName: attribute.localName)
            values[name] = String(decoding: attribute.value, as: UTF8.self)
            if let namespace = attribute.namespace { namespaces[name] = names.string(namespace) }
        }
        return (values, namespaces)
    }

    private func spend(_ count: some BinaryInteger) -> Bool {
        budget -= Int(count)
        if budget < 0 { fail(.expandsTooMuch, nil) }
        return budget >= 0
    }

    private func tell(_ event: XMLEvent, _ spelling: XMLTagSpelling = XMLTagSpelling()) {
        do {
            var spelling = spelling
            if isSpelled, let context { spelling.line = Int(linnet_xml_line(context)) }
            try handler(event, spelling)
        } catch {
            failure = error
        }
    }

    private func fail(_ kind: XMLSyntaxError.Kind, _ detail: String?) {
        failure = syntaxError(kind, detail)
    }

    private func syntaxError(_ kind: XMLSyntaxError.Kind, _ detail: String?) -> XMLSyntaxError {
        XMLSyntaxError(kind: kind, line: context.map { Int(linnet_xml_line($0)) } ?? 0, detail: detail)
    }

    /// One line of at most 200 characters, since libxml2 quotes the document in its messages.
    private static func line(_ message: String) -> String {
        let shown = message.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? " " : $0 }
        let text = String(String.UnicodeScalarView(shown))
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}

/// A tag as reported by libxml2; the pointers are valid during the callback.
struct XMLStartTag {
    struct Attribute {
        let localName: UnsafePointer<xmlChar>
        let prefix: UnsafePointer<xmlChar>?
        let namespace: UnsafePointer<xmlChar>?
        let value: UnsafeBufferPointer<xmlChar>
    }

    let localName: UnsafePointer<xmlChar>
    let prefix: UnsafePointer<xmlChar>?
    let namespace: UnsafePointer<xmlChar>?
    /// The prefixes and namespaces that the tag declares, one after the other.
    let declarations: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?
    /// The number of namespaces that the tag declares.
    let namespaceCount: Int
    let attributes: [Attribute]

    /// The namespaces that the tag declares, with their prefixes.
    var namespaces: [(prefix: UnsafePointer<xmlChar>?, namespace: UnsafePointer<xmlChar>?)] {
        guard let declarations else { return [] }
        return (0..<namespaceCount).map { (declarations[2 * $0], declarations[2 * $0 + 1]) }
    }
}

extension XMLDocumentReader {
    static let readInput: xmlInputReadCallback = { pointer, buffer, count in
        guard let reader = reader(pointer), let buffer, count > 0 else { return 0 }
        return CInt(reader.input(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))))
    }

    /// The callbacks for libxml2, without those that load external resources.
    static var callbacks: xmlSAXHandler {
        var table = xmlSAXHandler()
        table.initialized = LINNET_XML_SAX2_MAGIC
        setContentCallbacks(&table)
        setDeclarationCallbacks(&table)
        // For some errors of validity, libxml2 passes its own context instead of the reader.
        table.serror = { _, error in
            guard let error, let context = error.pointee.ctxt else { return }
            reader(linnet_xml_user_data(context))?.error(error.pointee)
        }
        return table
    }

    private static func setContentCallbacks(_ table: inout xmlSAXHandler) {
        table.startElementNs = { pointer, name, prefix, namespace, namespaceCount, declarations, count, _, attributes in
            guard let reader = reader(pointer), let name else { return }
            reader.startElement(
                XMLStartTag(
                    localName: name, prefix: prefix, namespace: namespace, declarations: declarations,
                    namespaceCount: Int(namespaceCount),
                    attributes: list(attributes, count: Int(count))))
        }
        table.endElementNs = { pointer, _, _, _ in reader(pointer)?.endElement() }
        table.characters = { pointer, bytes, count in
            reader(pointer)?.text(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        table.ignorableWhitespace = table.characters
        table.cdataBlock = { pointer, bytes, count in
            reader(pointer)?.cdata(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        table.comment = { pointer, text in
            guard let text else { return }
            reader(pointer)?.comment(text)
        }
        table.processingInstruction = { pointer, target, data in
            guard let target else { return }
            reader(pointer)?.processingInstruction(target: target, data: data)
        }
    }

    private static func setDeclarationCallbacks(_ table: inout xmlSAXHandler) {
        table.entityDecl = { pointer, name, _, _, _, _ in reader(pointer)?.entityDeclaration(name) }
        table.unparsedEntityDecl = { pointer, name, _, _, _ in reader(pointer)?.entityDeclaration(name) }
        table.attributeDecl = { pointer, _, _, _, _, defaultValue, enumeration in
            linnet_xml_free_enumeration(enumeration)
            reader(pointer)?.attributeDeclaration(hasDefault: defaultValue != nil)
        }
    }
}

// C callbacks have no context type, hence free functions.
private func reader(_ pointer: UnsafeMutableRawPointer?) -> XMLDocumentReader? {
    pointer.map { Unmanaged<XMLDocumentReader>.fromOpaque($0).takeUnretainedValue() }
}

/// libxml2 passes five pointers for each attribute: the name, its prefix and namespace, and the start and end of the
/// value.
private func list(
    _ pointers: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
) -> [XMLStartTag.Attribute] {
    guard let pointers else { return [] }
    return (0..<count).compactMap { index in
        let part = pointers + 5 * index
        guard let name = part[0], let value = part[3], let end = part[4] else { return nil }
        return XMLStartTag.Attribute(
            localName: name, prefix: part[1], namespace: part[2],
            value: UnsafeBufferPointer(start: value, count: end - value))
    }
}
