internal import LinnetMultipart
internal import LinnetSerialization

extension MultipartForm {
    /// A form that a function fills; parameters come first, as AFNetworking puts them.
    init(_ parameters: Parameters?, filledBy fill: (inout MultipartForm) throws -> Void) throws(SessionError) {
        do {
            self.init()
            if let parameters { try append(parameters) }
            try fill(&self)
        } catch {
            throw SessionError(building: error, url: nil)
        }
    }
}
