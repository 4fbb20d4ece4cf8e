import CLibXML2

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
