/// The text that is signed (RFC 9421, section 2.5).
struct SignatureBase {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - message: The message.
    ///   - components: The covered components.
    ///   - input: The components and the parameters of the signature, which are its last line.
    /// - Throws: ``AuthenticationError/Code/missingComponent``.
    init(
        of message: SignableMessage, covering components: [SignatureComponent], _ input: StructuredField.InnerList
    ) throws(AuthenticationError) {
        var text = ""
        for component in components { text += "\(component): \(try message.value(of: component))\n" }
        text += "\"@signature-params\": \(input.text)"
        bytes = Array(text.utf8)
    }
}
