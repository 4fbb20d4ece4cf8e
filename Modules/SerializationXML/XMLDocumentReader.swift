import CLibXML2

/// Reads one document with libxml2, and keeps the limits that are counted in what it finds.
///
/// libxml2 pulls its input from an ``XMLSource``. Once something has failed, the source is at its end: the few thousand
/// bytes that libxml2 holds by then are all that it still looks at. Stopping it in the middle is not needed, and not safe
/// where it reports an error.
final class XMLDocumentReader {
    /// Takes an event, and the namespaces of the attributes that are in one, by their names as written.
    typealias Handler = (XMLEvent, [String: String]) throws -> Void

    private let options: XMLParsingOptions
    private let handler: Handler
    private var source: XMLSource
    private var names = XMLNameTable()
    private var context: xmlParserCtxtPtr?
    private var failure: (any Error)?
    /// Why the source ended. libxml2 reads ahead, so that there may be events to tell of what comes before.
    private var sourceFailure: XMLSyntaxError?

    /// The elements that have begun and not ended, each with the number of namespaces that it declares.
    private var open: [(name: XMLName, namespaces: Int)] = []
    private var namespaces = 0
    private var nodes = 0
    private var defaults = 0
    /// How many bytes of text there may still be.
    private var budget: Int

    private static let start: Void = xmlInitParser()
    /// Nothing comes from the network; the limits are ours, and come first; the encoding is dealt with.
    ///
    /// Without XML_PARSE_NOENT `&amp;` in the value of an attribute would be told as `&#38;`. There is nothing else for it to
    /// substitute: the callbacks offer no entities, and a document that declares some is refused.
    private static let options = CInt(
        XML_PARSE_NONET.rawValue | XML_PARSE_HUGE.rawValue | XML_PARSE_IGNORE_ENC.rawValue | XML_PARSE_NOENT.rawValue)

    /// The bytes must outlive the reader.
    init(
        _ bytes: UnsafeRawBufferPointer, charset: String?, options: XMLParsingOptions, handler: @escaping Handler
    ) throws(XMLSyntaxError) {
        guard bytes.count <= options.maximumBytes else {
            throw XMLSyntaxError(
                kind: .tooLarge, line: 0, detail: "\(bytes.count) bytes, of at most \(options.maximumBytes)")
        }
        self.options = options
        self.handler = handler
        let encoding = try XMLEncoding.name(of: bytes, charset: charset)
        source = try XMLSource(bytes, encoding: encoding, options: options)
        budget = options.budget(for: bytes.count)
    }

    /// Reads the document to its end, or to the first failure, and throws that.
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
            xmlParseDocument(parser)
            if let failure = failure ?? sourceFailure { throw failure }
            guard linnet_xml_is_well_formed(parser) == 1 else { throw syntaxError(.malformed, nil) }
        }
    }

    // MARK: What libxml2 asks for and tells

    func input(into output: UnsafeMutableRawBufferPointer) -> Int {
        guard failure == nil, sourceFailure == nil else { return 0 }
        do throws(XMLSyntaxError) {
            return try source.read(into: output)
        } catch {
            sourceFailure = error
            return 0
        }
    }

    func startElement(_ tag: XMLStartTag) {
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
        // Values that the document type gives cost the document nothing.
        guard spend(tag.attributes.reduce(0) { $0 + $1.value.count }) else { return }
        let name = XMLName(
            names.string(tag.localName), namespace: tag.namespace.map { names.string($0) })
        open.append((name, tag.namespaceCount))
        let (attributes, attributeNamespaces) = strings(of: tag.attributes)
        tell(.startElement(name, attributes: attributes), attributeNamespaces)
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
        guard failure == nil, spend(data.map { xmlStrlen($0) } ?? 0) else { return }
        tell(.processingInstruction(target: String(cString: target), data: data.map { String(cString: $0) }))
    }

    func entityDeclaration(_ name: UnsafePointer<xmlChar>?) {
        guard failure == nil else { return }
        fail(.entityDeclaration, name.map { XMLEncoding.shown(String(cString: $0)) })
    }

    /// A declared default is written into each element of its name, at the price of the square of their number.
    func attributeDefault() {
        guard failure == nil else { return }
        defaults += 1
        if defaults > options.maximumAttributes { fail(.tooManyNodes, "more than \(defaults - 1) default values") }
    }

    func error(_ error: xmlError) {
        guard failure == nil, let kind = Self.kind(of: error) else { return }
        // A document that is cut off is malformed, but that is not what is wrong with it.
        if kind == .malformed, sourceFailure != nil { return }
        let detail = error.message.map { Self.line(String(cString: $0)) }
        failure = XMLSyntaxError(kind: kind, line: Int(error.line), detail: detail)
    }

    // MARK: Bookkeeping

    /// What breaks a constraint of Namespaces in XML 1.0. That a name is no URI, or a relative one, is none of these.
    private static let namespaceErrors =
        CInt(XML_NS_ERR_XML_NAMESPACE.rawValue)...CInt(XML_NS_ERR_COLON.rawValue)

    /// Nil for what is no failure: warnings, and what only makes a document invalid.
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

    private func tell(_ event: XMLEvent, _ attributeNamespaces: [String: String] = [:]) {
        do {
            try handler(event, attributeNamespaces)
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

    /// One line of at most 200 characters: libxml2 quotes the document in its messages.
    private static func line(_ message: String) -> String {
        let shown = message.unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? " " : $0 }
        let text = String(String.UnicodeScalarView(shown))
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}

/// What libxml2 says of a tag; the pointers hold while it says so.
struct XMLStartTag {
    struct Attribute {
        let localName: UnsafePointer<xmlChar>
        let prefix: UnsafePointer<xmlChar>?
        let namespace: UnsafePointer<xmlChar>?
        let value: UnsafeBufferPointer<xmlChar>
    }

    let localName: UnsafePointer<xmlChar>
    let namespace: UnsafePointer<xmlChar>?
    /// How many namespaces the tag declares.
    let namespaceCount: Int
    let attributes: [Attribute]
}

extension XMLDocumentReader {
    static let readInput: xmlInputReadCallback = { pointer, buffer, count in
        guard let reader = reader(pointer), let buffer, count > 0 else { return 0 }
        return CInt(reader.input(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))))
    }

    /// The functions that libxml2 calls. None of those that would load something is there.
    static var callbacks: xmlSAXHandler {
        var table = xmlSAXHandler()
        table.initialized = LINNET_XML_SAX2_MAGIC
        setContentCallbacks(&table)
        setDeclarationCallbacks(&table)
        // With some errors of validity libxml2 hands over its own context instead of the reader.
        table.serror = { _, error in
            guard let error, let context = error.pointee.ctxt else { return }
            reader(linnet_xml_user_data(context))?.error(error.pointee)
        }
        return table
    }

    private static func setContentCallbacks(_ table: inout xmlSAXHandler) {
        table.startElementNs = { pointer, name, _, namespace, namespaceCount, _, count, _, attributes in
            guard let reader = reader(pointer), let name else { return }
            reader.startElement(
                XMLStartTag(
                    localName: name, namespace: namespace, namespaceCount: Int(namespaceCount),
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
            if defaultValue != nil { reader(pointer)?.attributeDefault() }
        }
    }
}

// A function that libxml2 calls has no type around it, so that these stand alone.
private func reader(_ pointer: UnsafeMutableRawPointer?) -> XMLDocumentReader? {
    pointer.map { Unmanaged<XMLDocumentReader>.fromOpaque($0).takeUnretainedValue() }
}

/// libxml2 gives five pointers for each attribute: the name, its prefix and namespace, the value and its end.
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
