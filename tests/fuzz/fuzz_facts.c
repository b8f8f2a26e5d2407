/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fact decoder on any bytes, in two portions. Whatever it accepts can be
 * encoded again, and the stream is complete only after its end frame.
 */
#include "facts/fact_codec.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* An accepted fact fits a frame and has text where the encoder wants some. */
static void check_encodes(const struct fsc_fact *f)
{
	struct fsc_buf one = FSC_BUF_INIT(4 << 20);

	if (fsc_fact_encode(&one, f) != FSC_OK)
		abort();
	fsc_buf_fini(&one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_fact_decoder d;
	enum fsc_status st = FSC_OK;
	struct fsc_fact f;
	size_t half = size / 2;

	fsc_fact_decoder_init(&d);
	for (int i = 0; i < 2 && (st == FSC_OK || st == FSC_AGAIN); i++) {
		st = fsc_fact_decoder_put(&d, data + (i ? half : 0), i ? size - half : half, &err);
		while (st == FSC_OK && (st = fsc_fact_decoder_next(&f, &d, &err)) == FSC_OK)
			check_encodes(&f);
	}
	if (st == FSC_AGAIN && fsc_fact_decoder_finish(&d, &err) == FSC_OK && !d.ended)
		abort();
	fsc_fact_decoder_fini(&d);
	return 0;
}
