package import HTTPTypes
package import LinnetSerialization

extension HTTPCall {
    /// The session of the call.
    package var owner: HTTPSession { session }

    /// Returns the request of the call without the fields that its session adds to each request.
    ///
    /// Another process stores the request, and its session adds fields of its own when the request is sent.
    package func ownRequest() throws(SessionError) -> SessionRequest {
        var request = try request()
        let own = Set(headerFields.map(\.name)).union((givenFields ?? [:]).map(\.name))
        // Without content, the media type is the serializer's for content that another call would have.
        if (request.body?.length ?? 0) == 0, !own.contains(.contentType) { request.headerFields[.contentType] = nil }
        for name in session.addedFieldNames.subtracting(own) { request.headerFields[fields: name] = [] }
        return request
    }
}

extension HTTPSession {
    /// The names of the fields that the session adds to requests that lack them.
    fileprivate var addedFieldNames: Set<HTTPField.Name> { headerTable.addedNames }

    /// The fields whose values must not leave their origin, and are not stored.
    package var credentialNames: Set<HTTPField.Name> { initialConfiguration.redaction.credentialNames }

    /// Whether the session adds a credential to each request.
    package var addsCredentials: Bool {
        !addedFieldNames.isDisjoint(with: credentialNames)
    }
}
