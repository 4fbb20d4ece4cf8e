// What Swift cannot import of libxml2's headers, and iconv with types that are the same on every system.
#ifndef LINNET_CLIBXML2_SHIM_H
#define LINNET_CLIBXML2_SHIM_H

#include <libxml/xmlversion.h>

// Older ones read element content recursively.
#if LIBXML_VERSION < 20911
#error "Linnet needs libxml2 2.9.11 or newer: install a current libxml2-dev (Debian 12, Ubuntu 22.04 or later)"
#endif

#include <errno.h>
#include <iconv.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/valid.h>
#include <libxml/xmlerror.h>

static const unsigned int LINNET_XML_SAX2_MAGIC = XML_SAX2_MAGIC;

static inline int linnet_xml_is_well_formed(xmlParserCtxtPtr context) { return context->wellFormed; }

// What the callbacks of a context are given; the context as an error has it.
static inline void *linnet_xml_user_data(void *context) { return ((xmlParserCtxtPtr)context)->userData; }

static inline int linnet_xml_line(xmlParserCtxtPtr context) {
    return context->input == NULL ? 0 : context->input->line;
}

// xmlFreeEnumeration calls itself for each element of the list in libxml2 before 2.13.
static inline void linnet_xml_free_enumeration(xmlEnumerationPtr list) {
    while (list != NULL) {
        xmlEnumerationPtr next = list->next;
        list->next = NULL;
        xmlFreeEnumeration(list);
        list = next;
    }
}

// With entities that are declared, libxml2 makes a document of its own to keep them in.
static inline void linnet_xml_free_context(xmlParserCtxtPtr context) {
    if (context->myDoc != NULL) {
        xmlFreeDoc(context->myDoc);
        context->myDoc = NULL;
    }
    xmlFreeParserCtxt(context);
}

// NULL if there is no such encoding.
static inline void *linnet_iconv_open(const char *from) {
    iconv_t converter = iconv_open("UTF-8", from);
    return converter == (iconv_t)-1 ? NULL : (void *)converter;
}

// 0, or -1 at bytes that are not in the encoding, or that end within a character. Output that is full is no error.
static inline int linnet_iconv(void *converter, const char **input, size_t *input_count, char **output,
                               size_t *output_count) {
    size_t status = iconv((iconv_t)converter, (char **)input, input_count, output, output_count);
    return status == (size_t)-1 && errno != E2BIG ? -1 : 0;
}

static inline void linnet_iconv_close(void *converter) { iconv_close((iconv_t)converter); }

#endif
